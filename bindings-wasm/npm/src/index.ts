/**
* railgate: a settlement gateway in a browser tab.
 *
* The other parts have separate entries: `railgate/client` (calls a real gateway), `railgate/forms`, `railgate/receipt`, `railgate/log`,
 * `railgate/webhook` and `railgate/qr`.
 *
 * @module
 */

export { Sandbox } from "./sandbox/sandbox.js";
export type { SandboxOptions } from "./sandbox/options.js";
export { EventWatch } from "./sandbox/watch.js";
export type {
  CallOptions,
  CreateOptions,
  DeviceFacts,
  EventsOptions,
  FeedOptions,
  FollowFeedOptions,
  FollowOptions,
  PageOptions,
  ReceiptForm,
  ReverseOptions,
  SettledOptions,
} from "./client/options.js";
export type { Gateway } from "./gateway.js";
export type { Device, DeviceCode, DeviceCodeRequest, User, UserLimits, UserLimitsRequest, UserRequest } from "./routes.js";
export { Listing } from "./listing.js";
export * from "./errors.js";
export * from "./types.js";
export * from "./values.js";
