import * as glue from "../../wasm/webhook.js";
import { packed } from "../../wasm/webhook_packed.js";
import { once } from "./once.js";
import { unpack } from "./unpack.js";

/** The module `webhook` of the core. */
export const loadWebhook = once(glue, () => unpack(packed));
