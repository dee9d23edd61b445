import * as glue from "../../wasm/webhook.js";
import module from "railgate-workers/webhook.wasm";
import { once } from "./once.js";

/** The module `webhook` of the core, for runtimes that only accept modules compiled ahead of time. */
export const loadWebhook = once(glue, () => module);
