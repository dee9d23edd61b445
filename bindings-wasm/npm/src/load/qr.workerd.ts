import * as glue from "../../wasm/qr.js";
import module from "railgate-workers/qr.wasm";
import { once } from "./once.js";

/** The module `qr` of the core, for runtimes that only accept modules compiled ahead of time. */
export const loadQr = once(glue, () => module);
