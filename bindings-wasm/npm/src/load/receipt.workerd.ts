import * as glue from "../../wasm/receipt.js";
import module from "../../wasm/receipt_bg.wasm";
import { once } from "./once.js";

/** The module `receipt` of the core, where the runtime compiles modules ahead and nowhere else. */
export const loadReceipt = once(glue, () => module);
