import * as glue from "../../wasm/gateway.js";
import module from "railgate-workers/gateway.wasm";
import { once } from "./once.js";

/** The module `gateway` of the core, for runtimes that only accept modules compiled ahead of time. */
export const loadGateway = once(glue, () => module);
