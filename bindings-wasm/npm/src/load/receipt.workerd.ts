import * as glue from "../../wasm/receipt.js";
import module from "railgate-workers/receipt.wasm";
import { once } from "./once.js";

/** The module `receipt` of the core, for runtimes that only accept modules compiled ahead of time. */
export const loadReceipt = once(glue, () => module);
