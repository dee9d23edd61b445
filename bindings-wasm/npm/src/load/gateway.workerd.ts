import * as glue from "../../wasm/gateway.js";
import module from "../../wasm/gateway_bg.wasm";
import { once } from "./once.js";

/** The module `gateway` of the core, where the runtime compiles modules ahead and nowhere else. */
export const loadGateway = once(glue, () => module);
