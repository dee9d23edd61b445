/** A promise that is settled from outside. */
export interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

/** Creates one. Its rejection may remain unhandled. */
export function deferred(): Deferred {
  let settle: Omit<Deferred, "promise"> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => undefined);
  return { promise, resolve: () => settle?.resolve(), reject: (error) => settle?.reject(error) };
}
