/**
 * Bringing a WebAssembly module to life, once.
 *
 * @module
 */

/** What wasm-bindgen makes beside a module. */
export interface Glue {
  /** Instantiates the module. */
  default(options: { module_or_path: BufferSource | WebAssembly.Module }): Promise<unknown>;
}

/** Instantiates a module when it is first asked for; asked again, gives the same. After a failure it is tried anew. */
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
