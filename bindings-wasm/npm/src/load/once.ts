/**
* Instantiates a WebAssembly module once.
 *
 * @module
 */

import { RailgateError } from "../errors.js";

/** The JavaScript that wasm-bindgen generates for a module. */
export interface Glue {
  /** Instantiates the module. */
  default(options: { module_or_path: BufferSource | WebAssembly.Module }): Promise<unknown>;
}

/** What browsers say when a policy forbids WebAssembly. There is no type or code for it. */
const FORBIDDEN = /unsafe-eval|content.security.policy|\bCSP\b|disallowed by embedder/i;

function forbidden(error: unknown): RailgateError | undefined {
  if (!(error instanceof Error) || !FORBIDDEN.test(error.message)) return undefined;
  const what = "the page's Content-Security-Policy forbids WebAssembly: add 'wasm-unsafe-eval' to its script-src directive";
  return new RailgateError("webassembly_forbidden", what, { cause: error });
}

/** Instantiates a module on the first call and returns the same one afterwards. After a failure, the next call tries again. */
export function once<G extends Glue>(glue: G, source: () => BufferSource | WebAssembly.Module): () => Promise<G> {
  let ready: Promise<G> | undefined;
  const start = async (): Promise<G> => {
    if (typeof WebAssembly === "undefined") throw new RailgateError("unsupported", "this browser or runtime has no WebAssembly");
    try {
      await glue.default({ module_or_path: source() });
    } catch (error) {
      throw forbidden(error) ?? error;
    }
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
