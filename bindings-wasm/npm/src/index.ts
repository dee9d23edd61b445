/**
* railgate: a settlement gateway in a browser tab.
 *
* The other parts have separate entries: `railgate/client` (calls a real gateway), `railgate/forms`, `railgate/receipt`,
 * `railgate/webhook` and `railgate/qr`.
 *
 * @module
 */

export { Sandbox } from "./sandbox/sandbox.js";
export type {
  CallOptions,
  EventsQuery,
  ReceiptForm,
  SandboxOptions,
  WatchOptions,
} from "./sandbox/sandbox.js";
export { EventWatch } from "./sandbox/watch.js";
export * from "./errors.js";
export * from "./types.js";
export * from "./values.js";
