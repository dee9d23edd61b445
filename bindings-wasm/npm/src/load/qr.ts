import * as glue from "../../wasm/qr.js";
import { packed } from "../../wasm/qr_packed.js";
import { once } from "./once.js";
import { unpack } from "./unpack.js";

/** The module `qr` of the core. */
export const loadQr = once(glue, () => unpack(packed));
