import * as glue from "../../wasm/forms.js";
import { packed } from "../../wasm/forms_packed.js";
import { once } from "./once.js";
import { unpack } from "./unpack.js";

/** The module `forms` of the core. */
export const loadForms = once(glue, () => unpack(packed));
