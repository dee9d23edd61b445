import * as glue from "../../wasm/client.js";
import module from "railgate-workers/client.wasm";
import { once } from "./once.js";

/** The module `client` of the core, for runtimes that only accept modules compiled ahead of time. */
export const loadClient = once(glue, () => module);
