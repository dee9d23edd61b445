import * as glue from "../../wasm/log.js";
import { packed } from "../../wasm/log_packed.js";
import { once } from "./once.js";
import { unpack } from "./unpack.js";

/** The module `log` of the core. */
export const loadLog = once(glue, () => unpack(packed));
