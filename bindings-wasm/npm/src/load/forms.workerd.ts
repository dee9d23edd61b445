import * as glue from "../../wasm/forms.js";
import module from "railgate-workers/forms.wasm";
import { once } from "./once.js";

/** The module `forms` of the core, for runtimes that only accept modules compiled ahead of time. */
export const loadForms = once(glue, () => module);
