import * as glue from "../../wasm/client.js";
import { packed } from "../../wasm/client_packed.js";
import { once } from "./once.js";
import { unpack } from "./unpack.js";

/** The module `client` of the core. */
export const loadClient = once(glue, () => unpack(packed));
