import * as glue from "../../wasm/client.js";
import module from "../../wasm/client_bg.wasm";
import { once } from "./once.js";

/** The module `client` of the core, where the runtime compiles modules ahead and nowhere else. */
export const loadClient = once(glue, () => module);
