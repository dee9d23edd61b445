import * as glue from "../../wasm/receipt.js";
import { packed } from "../../wasm/receipt_packed.js";
import { once } from "./once.js";
import { unpack } from "./unpack.js";

/** The module `receipt` of the core. */
export const loadReceipt = once(glue, () => unpack(packed));
