/** Names of the interface's states, events and reasons. The types make each of them have one. */

import type {
  Actor,
  AnswerKind,
  DeliveryCause,
  DeliveryStatus,
  Direction,
  EventType,
  FailureCode,
  Health,
  KeyStatus,
  PayeeMatch,
  Resolution,
  ReversalReason,
  ReversalStatus,
  ReviewReason,
  RouteRefusal,
  SettlementStatus,
  Webhook,
} from "railgate/client";

const settlement: Record<SettlementStatus, string> = {
  accepted: "Accepted",
  submitted: "Submitted",
  unknown: "Unknown",
  completed: "Completed",
  partially_reversed: "Partly reversed",
  reversed: "Reversed",
  returned: "Returned",
  failed: "Failed",
  cancelled: "Cancelled",
};

const reversal: Record<ReversalStatus, string> = {
  accepted: "Accepted",
  submitted: "Submitted",
  unknown: "Unknown",
  completed: "Completed",
  failed: "Failed",
};

const event: Record<EventType, string> = {
  "settlement.accepted": "Accepted",
  "settlement.submitted": "Recorded as sent",
  "settlement.unknown": "The answer is not known",
  "settlement.completed": "Paid",
  "settlement.failed": "Proved not paid",
  "settlement.cancelled": "Cancelled before it was sent",
  "settlement.partially_reversed": "A part was returned",
  "settlement.reversed": "All of it was returned",
  "settlement.returned": "Returned by the rail",
  "settlement.discrepancy": "Something contradicts the result",
  "settlement.reviewed": "A person decided",
  "attempt.started": "Attempt stored",
  "attempt.answered": "The rail answered",
  "reversal.accepted": "Reversal requested",
  "reversal.submitted": "Reversal recorded as sent",
  "reversal.unknown": "The answer about the reversal is not known",
  "reversal.completed": "Reversal completed",
  "reversal.failed": "Reversal proved not made",
  "balance.deposited": "Money paid in",
  "balance.withdrawn": "Money paid out",
  "balance.credit_changed": "Credit changed",
  "approval.requested": "Waits for the user's approval",
  "approval.approved": "Approved by the user",
  "approval.declined": "Declined by the user",
  "bundle.created": "Bundle created",
  "bundle.edited": "Bundle changed",
  "bundle.commented": "Bundle commented",
  "bundle.tested": "Bundle tested",
  "bundle.publication_asked": "Publication of the bundle requested",
  "bundle.publication_failed": "Bundle not published",
  "bundle.superseded": "Bundle replaced by a later version",
  "bundle.test_asked": "Another test of the bundle requested",
  "bundle.submitted": "Bundle submitted",
  "bundle.in_review": "Review of the bundle started",
  "bundle.approved": "Bundle approved",
  "bundle.rejected": "Bundle rejected",
  "bundle.changes_requested": "Changes of the bundle requested",
  "bundle.withdrawn": "Bundle withdrawn",
  "bundle.published": "Bundle published",
  "bundle.revoked": "Bundle revoked",
};

const actor: Record<Actor, string> = {
  client: "client",
  system: "gateway",
  rail: "rail",
  operator: "operator",
  user: "end user",
};

const failure: Record<FailureCode, string> = {
  recipient_not_found: "The recipient does not exist at the provider",
  account_closed: "The recipient's account is closed",
  account_blocked: "The recipient's account is blocked",
  insufficient_funds: "The provider's account has insufficient funds",
  duplicate: "The provider already has such a payment",
  over_limit: "Over a limit of the provider or the recipient",
  provider_offline: "The provider could not be reached; nothing was sent",
  invalid_amount: "The provider does not accept this amount",
  not_allowed: "The provider does not allow this payment",
  other: "Another reason",
};

const reason: Record<ReversalReason, string> = {
  duplicate: "It was sent twice",
  incorrect_amount: "The amount was wrong",
  incorrect_recipient: "The recipient was wrong",
  fraud: "Fraud",
  customer_request: "The customer asked for it",
  other: "Another reason",
};

const match: Record<PayeeMatch, string> = {
  match: "The name matches",
  close_match: "The name is similar: check it",
  no_match: "The name does not match",
  not_available: "The provider cannot check names",
};

const refusal: Record<RouteRefusal, string> = {
  not_pinned: "the payment names another provider",
  not_served: "does not reach such participants or settle this currency",
  disabled: "takes no payments",
  maintenance: "under maintenance",
  below_minimum: "the amount is below its minimum",
  above_maximum: "the amount is above its maximum",
  unavailable: "does not respond",
};

const health: Record<Health, string> = { up: "Up", degraded: "Degraded", down: "Down", maintenance: "Maintenance" };
const direction: Record<Direction, string> = { outgoing: "Outgoing", incoming: "Incoming" };
const delivery: Record<DeliveryStatus, string> = { pending: "Pending", delivered: "Delivered", failed: "Failed" };
const cause: Record<DeliveryCause, string> = { event: "New event", redelivery: "Sent again", replay: "Replay", test: "Test" };
const webhook: Record<Webhook["status"], string> = {
  enabled: "Enabled",
  disabled: "Disabled",
  gone: "Gone: the receiver said so",
  failing: "Failing",
};
const key: Record<KeyStatus, string> = { active: "Active", pending: "Waits for approval", revoked: "Revoked" };

/** Why a payment waits for a person. */
const review: Record<ReviewReason, string> = {
  no_end_for_a_day: "No outcome for a day",
  discrepancy: "The provider contradicts the record",
  in_statement: "In a statement, open here",
  statement_differs: "A statement differs",
};

/** What a person decided about a payment. */
const resolution: Record<Resolution, string> = {
  confirmed_completed: "It was paid",
  confirmed_failed: "It was not paid, and never will be",
  keep_waiting: "There is no evidence yet",
  accept_discrepancy: "The recorded outcome stays",
};

const answer: Record<AnswerKind, string> = {
  completed: "carried out",
  accepted: "accepted, no outcome yet",
  declined: "declined",
  not_sent: "never arrived",
  unknown: "no usable answer",
  returned: "returned",
};

export const states = {
  settlement,
  reversal,
  event,
  actor,
  answer,
  failure,
  reason,
  resolution,
  review,
  match,
  refusal,
  health,
  direction,
  delivery,
  cause,
  webhook,
  key,
};
