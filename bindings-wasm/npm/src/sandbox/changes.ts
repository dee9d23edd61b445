/** Notifies followers that something became durable. */

/** A counter of durable changes that followers can wait on. */
export class Changes {
  #count = 0;
  #failed: Error | undefined;
  #listeners = new Set<() => void>();

  /** Grows with every change. Read it before reading the state and pass it to {@link after}; then no change is missed. */
  get count(): number {
    return this.#count;
  }

  /** Reports a change. */
  tell(): void {
    this.#count += 1;
    this.#wake();
  }

  /** Reports that there will be no more changes: every waiter, now or later, is rejected with `error`. */
  end(error: Error): void {
    this.#failed ??= error;
    this.#wake();
  }

  /** Resolves once the counter is beyond `count`; rejects at the end, or with the signal's reason. */
  after(count: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        if (signal.aborted) reject(signal.reason as Error);
        else if (this.#count > count) resolve();
        else if (this.#failed !== undefined) reject(this.#failed);
        else return;
        this.#listeners.delete(settle);
        signal.removeEventListener("abort", settle);
      };
      this.#listeners.add(settle);
      signal.addEventListener("abort", settle);
      settle();
    });
  }

  #wake(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
