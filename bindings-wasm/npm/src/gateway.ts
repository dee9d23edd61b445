// For projects whose settings lack `Symbol.dispose`; preserved in the declarations.
/// <reference lib="esnext.disposable" preserve="true" />

/**
 * What a sandbox and a server have in common.
 *
 * @module
 */

import type {
  CallOptions,
  CreateOptions,
  EventsOptions,
  FeedOptions,
  FollowFeedOptions,
  FollowOptions,
  ReceiptForm,
  ReceiptOptions,
  ReverseOptions,
  SettledOptions,
} from "./client/options.js";
import type { Listing } from "./listing.js";
import type {
  AdvanceRequest,
  Balance,
  CheckResult,
  Clock,
  ClockChange,
  CreateRequest,
  Faults,
  FaultsRequest,
  FeedEvent,
  FeedPage,
  FundRequest,
  Page,
  Receipt,
  ReconcileResult,
  ResetRequest,
  ResetResult,
  Reversal,
  ReverseRequest,
  ReverseResult,
  Scenario,
  Settlement,
  SettlementEvent,
  StatusView,
} from "./types.js";
import type { BatchResult, Created, JsonWebKeySet, ListFilter } from "./values.js";

/**
 * A gateway, in a tab (`Sandbox`) or on a server (`RailgateClient`). A program that takes one of these runs with both.
 *
 * ```ts
 * async function pay(gateway: Gateway, reference: string): Promise<string> {
 *   await gateway.create({ amount: "10.50", currency: "EUR", to: "sim:ok", reference });
 *   return (await gateway.settled(reference)).status;
 * }
 * ```
 */
export interface Gateway {
  /** Makes a payment. Repeated with the same reference, it creates nothing new. */
  create(request: CreateRequest, options?: CreateOptions): Promise<Created>;
  /** Makes many payments. Each succeeds or fails independently; results are in the order of the requests. */
  createBatch(requests: readonly CreateRequest[], options?: CallOptions): Promise<readonly BatchResult[]>;
  /** Returns what a create would find now. Changes nothing. */
  check(request: CreateRequest, options?: CallOptions): Promise<CheckResult>;
  /** Returns a settlement, by its reference or id. */
  get(ref: string, options?: CallOptions): Promise<Settlement>;
  /** Returns the status of a settlement. */
  status(ref: string, options?: CallOptions): Promise<StatusView>;
  /** Waits until a settlement no longer changes by itself, and on request until none of its reversals does. */
  settled(ref: string, options?: SettledOptions): Promise<StatusView>;
  /** Waits until a reversal has completed or failed. */
  reversed(ref: string, id: string, options?: CallOptions): Promise<Reversal>;
  /** Returns settlements, newest first. */
  list(filter?: ListFilter, options?: CallOptions): Listing<Page<Settlement>>;
  /** Returns a settlement's trace, oldest first. */
  events(ref: string, options?: EventsOptions): Listing<Page<SettlementEvent>>;
  /** Returns the events of all settlements, in one order that never changes. */
  feed(options?: FeedOptions): Listing<FeedPage>;
  /** Iterates over a settlement's events as they happen. */
  follow(ref: string, options?: FollowOptions): AsyncIterableIterator<SettlementEvent>;
  /** Iterates over the events of all settlements as they happen. */
  followFeed(options?: FollowFeedOptions): AsyncIterableIterator<FeedEvent>;
  /** Reverses a settlement, in whole or in part, or cancels one that was not sent. */
  reverse(ref: string, request?: ReverseRequest, options?: ReverseOptions): Promise<ReverseResult>;
  /** Returns a settlement's reversals, oldest first. */
  reversals(ref: string, options?: CallOptions): Promise<readonly Reversal[]>;
  /** Returns one reversal, by its id or your reference. */
  reversal(ref: string, id: string, options?: CallOptions): Promise<Reversal>;
  /** Asks the provider now and compares its answer with the record, the ledger and the trace. */
  reconcile(ref: string, options?: CallOptions): Promise<ReconcileResult>;
  /** Returns the receipt of a completed settlement. */
  receipt(ref: string, options?: CallOptions): Promise<Receipt>;
  /** Returns the receipt as text. */
  receiptAs(ref: string, form: ReceiptForm, options?: ReceiptOptions): Promise<string>;
  /** Returns the public keys that verify receipts. */
  jwks(options?: CallOptions): Promise<JsonWebKeySet>;
  /** Returns the balances of all accounts. */
  balances(options?: CallOptions): Promise<readonly Balance[]>;
  /** Returns the balance in one currency. */
  balance(currency: string, options?: CallOptions): Promise<Balance>;
  /** Returns the simulator's scenarios. */
  scenarios(options?: CallOptions): Promise<readonly Scenario[]>;
  /** Adds play money and returns the new balance. */
  fund(request: FundRequest, options?: CallOptions): Promise<Balance>;
  /** Has the simulated operator decide about a settlement now. */
  advance(ref: string, request: AdvanceRequest, options?: CallOptions): Promise<Settlement>;
  /** Returns the state of the sandbox's clock. */
  clock(options?: CallOptions): Promise<Clock>;
  /** Stops the clock, lets it run, or advances it. */
  setClock(change: ClockChange, options?: CallOptions): Promise<Clock>;
  /** Returns the faults of the simulated operator. */
  faults(options?: CallOptions): Promise<Faults>;
  /** Replaces the faults of the simulated operator. */
  setFaults(request: FaultsRequest, options?: CallOptions): Promise<Faults>;
  /** Starts the sandbox again. */
  reset(request?: ResetRequest, options?: CallOptions): Promise<ResetResult>;
  /** Ends the use of it. What is stored stays. */
  close(): Promise<void>;
  /** Calls {@link Gateway.close} without waiting, for `using`. */
  [Symbol.dispose](): void;
  /** Calls {@link Gateway.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Whether a reversal no longer changes by itself. */
export function ends({ status }: Reversal): boolean {
  return status === "completed" || status === "failed";
}
