import * as glue from "../../wasm/sheet.js";
import module from "railgate-workers/sheet.wasm";
import { once } from "./once.js";

/** The module `sheet` of the core, for runtimes that only accept modules compiled ahead of time. */
export const loadSheet = once(glue, () => module);
