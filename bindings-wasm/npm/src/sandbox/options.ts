/** The options with which a sandbox is opened. */

import * as check from "../check.js";
import type { PortOptions } from "./open.js";

/** Options for opening a sandbox. */
export interface SandboxOptions {
  /** The name, unique within the page's origin; `sandbox` by default. Tabs that open the same name share one sandbox. */
  readonly name?: string;
  /**
   * Where the state is stored. `indexeddb`: in the browser, until it is erased; a call resolves only when its effect is durable.
   * `memory`: for the lifetime of the object, not shared. By default IndexedDB if available, as in every
   * browser, and otherwise memory, as in Node.
   */
  readonly storage?: "indexeddb" | "memory";
  /**
   * 32 bytes from which all ids and keys are derived, for reproducible tests and demonstrations (set `now` as well).
   * Random by default.
   */
  readonly seed?: Uint8Array;
  /** The clock, in Unix milliseconds; `Date.now` by default. */
  readonly now?: () => number;
  /** Aborts opening, for example while another tab that has the sandbox hangs. */
  readonly signal?: AbortSignal;
}

/** The options with every default. */
export function checked(options: SandboxOptions): PortOptions {
  check.object(options, "options");
  const { name = "sandbox", storage, seed, now = Date.now } = options;
  check.filled(name, "name");
  if (storage !== undefined && storage !== "indexeddb" && storage !== "memory") {
    throw new TypeError('storage must be "indexeddb" or "memory"');
  }
  if (seed !== undefined && !(seed instanceof Uint8Array && seed.length === 32))
    throw new TypeError("seed must be a Uint8Array of 32 bytes");
  if (typeof now !== "function") throw new TypeError("now must be a function");
  return {
    name,
    signal: check.signal(options.signal, "signal"),
    memory: (storage ?? (typeof indexedDB === "undefined" ? "memory" : "indexeddb")) === "memory",
    seed,
    now: () => Math.floor(check.number(now(), "now()")),
  };
}
