import * as glue from "../../wasm/gateway.js";
import { packed } from "../../wasm/gateway_packed.js";
import { once } from "./once.js";
import { unpack } from "./unpack.js";

/** The module `gateway` of the core. */
export const loadGateway = once(glue, () => unpack(packed));
