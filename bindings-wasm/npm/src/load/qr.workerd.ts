import * as glue from "../../wasm/qr.js";
import module from "../../wasm/qr_bg.wasm";
import { once } from "./once.js";

/** The module `qr` of the core, where the runtime compiles modules ahead and nowhere else. */
export const loadQr = once(glue, () => module);
