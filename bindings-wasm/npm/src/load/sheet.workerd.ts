import * as glue from "../../wasm/sheet.js";
import module from "../../wasm/sheet_bg.wasm";
import { once } from "./once.js";

/** The module `sheet` of the core, where the runtime compiles modules ahead and nowhere else. */
export const loadSheet = once(glue, () => module);
