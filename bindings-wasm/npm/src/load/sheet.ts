import * as glue from "../../wasm/sheet.js";
import { packed } from "../../wasm/sheet_packed.js";
import { once } from "./once.js";
import { unpack } from "./unpack.js";

/** The module `sheet` of the core. */
export const loadSheet = once(glue, () => unpack(packed));
