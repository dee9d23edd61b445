/**
* Instantiates a WebAssembly module once.
 *
 * @module
 */

/** The JavaScript that wasm-bindgen generates for a module. */
export interface Glue {
  /** Instantiates the module. */
  default(options: { module_or_path: BufferSource | WebAssembly.Module }): Promise<unknown>;
}

/** Instantiates a module on the first call and returns the same one afterwards. After a failure, the next call tries again. */
export function once<G extends Glue>(glue: G, source: () => BufferSource | WebAssembly.Module): () => Promise<G> {
  let ready: Promise<G> | undefined;
  const start = async (): Promise<G> => {
    await glue.default({ module_or_path: source() });
    return glue;
  };
  return () => {
    ready ??= start().catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    return ready;
  };
}
