/**
 * railgate: a settlement gateway in your tab.
 *
 * The other parts have entries of their own: `railgate/client` (calls a real gateway), `railgate/forms`, `railgate/receipt`,
 * `railgate/webhook` and `railgate/qr`.
 *
 * @module
 */

export { Sandbox } from "./sandbox/sandbox.js";
export type {
  CallOptions,
  Clock,
  ClockChange,
  EventsQuery,
  FundRequest,
  ReceiptForm,
  SandboxOptions,
  WatchOptions,
} from "./sandbox/sandbox.js";
export { EventWatch } from "./sandbox/watch.js";
export * from "./errors.js";
export * from "./types.js";
export * from "./values.js";
