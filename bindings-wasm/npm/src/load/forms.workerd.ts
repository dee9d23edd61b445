import * as glue from "../../wasm/forms.js";
import module from "../../wasm/forms_bg.wasm";
import { once } from "./once.js";

/** The module `forms` of the core, where the runtime compiles modules ahead and nowhere else. */
export const loadForms = once(glue, () => module);
