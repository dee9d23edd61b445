import * as glue from "../../wasm/webhook.js";
import module from "../../wasm/webhook_bg.wasm";
import { once } from "./once.js";

/** The module `webhook` of the core, where the runtime compiles modules ahead and nowhere else. */
export const loadWebhook = once(glue, () => module);
