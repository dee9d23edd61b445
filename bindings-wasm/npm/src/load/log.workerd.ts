import * as glue from "../../wasm/log.js";
import module from "railgate-workers/log.wasm";
import { once } from "./once.js";

/** The module `log` of the core, for runtimes that only accept modules compiled ahead of time. */
export const loadLog = once(glue, () => module);
