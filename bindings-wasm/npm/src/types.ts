/**
 * The request and response types of the HTTP interface, with the names from the wire.
 *
 * The one difference is amounts. The interface writes them as JSON numbers with the currency's decimals. A JavaScript number
 * would lose trailing zeros and, in sums, cents, so here they are strings, exactly as the server wrote them.
 *
 * Generated from the core by `RAILGATE_BLESS=1 cargo test -p railgate-wasm --test types`.
 *
 * @module
 */

import type { Amount, AmountInput, JsonObject, TimeInput, Timestamp } from "./values.js";

/**
 * Real money or play money. The two never mix: an account, and therefore a transfer, belongs to one of them.
 *
 * - `sandbox`: No real money moves.
 * - `live`: Real money.
 */
export type Environment = "sandbox" | "live";

/** Every {@link SettlementStatus}. */
export const SETTLEMENT_STATUSES = [
  "accepted",
  "submitted",
  "unknown",
  "completed",
  "partially_reversed",
  "reversed",
  "returned",
  "failed",
  "cancelled",
] as const;

/**
 * The state of a settlement.
 *
 * - `accepted`: Stored, funds on hold, nothing sent.
 * - `submitted`: An attempt was stored and may have been sent.
 * - `unknown`: The rail's answer is not known; the hold stays.
 * - `completed`: Paid. Final, but can still be reversed or returned.
 * - `partially_reversed`: A part of it was reversed.
 * - `reversed`: All of it was reversed.
 * - `returned`: The rail bounced it after completion.
 * - `failed`: Proved not paid; the money is released.
 * - `cancelled`: Withdrawn before anything was sent; the money is released.
 */
export type SettlementStatus = (typeof SETTLEMENT_STATUSES)[number];

/** Every {@link ReversalStatus}. */
export const REVERSAL_STATUSES = [
  "accepted",
  "submitted",
  "unknown",
  "completed",
  "failed",
] as const;

/**
 * The state of a reversal.
 *
 * - `accepted`: Stored, the amount announced, nothing sent.
 * - `submitted`: Stored as sent; the rail may have it.
 * - `unknown`: The rail's answer is not known.
 * - `completed`: The money is back.
 * - `failed`: Proved not reversed.
 */
export type ReversalStatus = (typeof REVERSAL_STATUSES)[number];

/** Every {@link IsoStatus}. */
export const ISO_STATUSES = [
  "RCVD",
  "ACSP",
  "PDNG",
  "ACSC",
  "RJCT",
  "CANC",
] as const;

/**
 * An ISO 20022 payment status, from ExternalPaymentTransactionStatus1Code.
 *
 * - `RCVD`: Received.
 * - `ACSP`: Accepted, settlement in process.
 * - `PDNG`: Pending: the outcome is not known yet.
 * - `ACSC`: Accepted, settlement completed.
 * - `RJCT`: Rejected.
 * - `CANC`: Cancelled.
 */
export type IsoStatus = (typeof ISO_STATUSES)[number];

/** Every {@link FailureCode}. */
export const FAILURE_CODES = [
  "recipient_not_found",
  "account_closed",
  "account_blocked",
  "insufficient_funds",
  "duplicate",
  "over_limit",
  "provider_offline",
  "invalid_amount",
  "not_allowed",
  "other",
] as const;

/**
 * Why a settlement or a reversal failed.
 *
 * - `recipient_not_found`: The recipient does not exist at the provider.
 * - `account_closed`: The recipient's account is closed.
 * - `account_blocked`: The recipient's account is blocked.
 * - `insufficient_funds`: The gateway's own account at the provider has insufficient funds; for a reversal between two clients, the payee's account.
 * - `duplicate`: The provider already has a payment like this one.
 * - `over_limit`: The payment exceeds a limit of the provider or the recipient.
 * - `provider_offline`: The provider could not be reached; provably nothing was sent.
 * - `invalid_amount`: The provider does not accept this amount.
 * - `not_allowed`: The provider does not allow this payment.
 * - `other`: Any other reason.
 */
export type FailureCode = (typeof FAILURE_CODES)[number];

/** Every {@link ErrorCategory}. */
export const CATEGORIES = [
  "validation",
  "authorisation",
  "identification",
  "business_rule",
  "service_unavailable",
  "internal",
] as const;

/**
 * The category of an error, after the error categories of the GSMA Mobile Money API.
 *
 * - `validation`: The request itself is wrong.
 * - `authorisation`: The caller is not allowed to do this.
 * - `identification`: The resource or the caller is unknown.
 * - `business_rule`: The request is well formed, but the current state rules it out.
 * - `service_unavailable`: Nothing is wrong with the request; retry later.
 * - `internal`: A fault of the gateway.
 */
export type ErrorCategory = (typeof CATEGORIES)[number];

/** Every {@link PayeeMatch}. */
export const PAYEE_MATCHES = [
  "match",
  "close_match",
  "no_match",
  "not_available",
] as const;

/**
 * The result of a payee check.
 *
 * - `match`: The payee is the one that the payer means.
 * - `close_match`: The payee's name is similar: show it and ask.
 * - `no_match`: The payee is another one.
 * - `not_available`: The provider cannot check.
 */
export type PayeeMatch = (typeof PAYEE_MATCHES)[number];

/** Every {@link ReversalReason}. */
export const REVERSAL_REASONS = [
  "duplicate",
  "incorrect_amount",
  "incorrect_recipient",
  "fraud",
  "customer_request",
  "other",
] as const;

/**
 * Why a client reverses a settlement.
 *
 * - `duplicate`: It was sent twice.
 * - `incorrect_amount`: The amount was wrong.
 * - `incorrect_recipient`: The participant was wrong.
 * - `fraud`: The client did not authorise it.
 * - `customer_request`: The client's customer asked for it.
 * - `other`: Any other reason.
 */
export type ReversalReason = (typeof REVERSAL_REASONS)[number];

/**
 * Whether a provider takes a payment.
 *
 * - `in`: It is tried, unless one before it pays.
 * - `out`: It is not tried.
 */
export type Verdict = "in" | "out";

/**
 * Why a provider on the route does not take a payment.
 *
 * - `not_pinned`: The payment is pinned to another provider.
 * - `not_served`: It does not reach such participants, or does not settle the currency.
 * - `disabled`: It takes no payments at all.
 * - `maintenance`: It takes no payments for a while.
 * - `below_minimum`: The amount is less than it takes.
 * - `above_maximum`: The amount is more than it takes.
 * - `unavailable`: It does not answer, and another provider takes the payment.
 */
export type RouteRefusal =
  | "not_pinned"
  | "not_served"
  | "disabled"
  | "maintenance"
  | "below_minimum"
  | "above_maximum"
  | "unavailable";

/**
 * What completed reversals give back of a fee.
 *
 * - `none`: Nothing: the fee is for the payment, whatever becomes of it.
 * - `proportional`: The share of the fee that the reversed part is of the payment, rounded down; all of it with the whole payment.
 * - `full`: All of it, once the whole payment is reversed; nothing for a part.
 */
export type FeeRefund = "none" | "proportional" | "full";

/**
 * Whether the owner of a settlement pays or is paid.
 *
 * - `outgoing`: It pays.
 * - `incoming`: Another client of the gateway pays it.
 */
export type Direction = "outgoing" | "incoming";

/**
 * How a provider is, from best to worst.
 *
 * - `up`: It answers, or was not asked lately.
 * - `degraded`: It answers slowly, not always, or is being tried again after an outage.
 * - `down`: It does not answer: payments go elsewhere or wait.
 * - `maintenance`: Its operator announced that it takes no payments for a while.
 */
export type Health = "up" | "degraded" | "down" | "maintenance";

/** Every {@link EventType}. */
export const EVENT_TYPES = [
  "settlement.accepted",
  "settlement.submitted",
  "settlement.unknown",
  "settlement.completed",
  "settlement.failed",
  "settlement.cancelled",
  "settlement.partially_reversed",
  "settlement.reversed",
  "settlement.returned",
  "settlement.discrepancy",
  "settlement.reviewed",
  "attempt.started",
  "attempt.answered",
  "reversal.accepted",
  "reversal.submitted",
  "reversal.unknown",
  "reversal.completed",
  "reversal.failed",
  "balance.deposited",
  "balance.withdrawn",
  "balance.credit_changed",
  "approval.requested",
  "approval.approved",
  "approval.declined",
  "bundle.created",
  "bundle.edited",
  "bundle.commented",
  "bundle.tested",
  "bundle.publication_asked",
  "bundle.publication_failed",
  "bundle.superseded",
  "bundle.test_asked",
  "bundle.submitted",
  "bundle.in_review",
  "bundle.approved",
  "bundle.rejected",
  "bundle.changes_requested",
  "bundle.withdrawn",
  "bundle.published",
  "bundle.revoked",
] as const;

/**
 * The type of an event in a trace.
 *
 * - `settlement.accepted`: Stored, money held.
 * - `settlement.submitted`: Recorded as sent; the rail may have the payment.
 * - `settlement.unknown`: The rail's answer is not known.
 * - `settlement.completed`: Paid.
 * - `settlement.failed`: Proved not paid.
 * - `settlement.cancelled`: Cancelled before it was sent.
 * - `settlement.partially_reversed`: Part of the money was returned.
 * - `settlement.reversed`: All of the money was returned.
 * - `settlement.returned`: The rail returned the payment after it had completed.
 * - `settlement.discrepancy`: Something contradicts a proven result.
 * - `settlement.reviewed`: A person reviewed the settlement.
 * - `attempt.started`: An attempt was stored, but has not left yet.
 * - `attempt.answered`: The rail's answer changed the attempt.
 * - `reversal.accepted`: A reversal was requested.
 * - `reversal.submitted`: Recorded as sent; the rail may have the reversal.
 * - `reversal.unknown`: The rail's answer is not known.
 * - `reversal.completed`: The money was returned.
 * - `reversal.failed`: Proved not reversed.
 * - `balance.deposited`: An operator credited what the client paid in.
 * - `balance.withdrawn`: An operator debited what the client was paid out.
 * - `balance.credit_changed`: An operator set the client's credit.
 * - `approval.requested`: The payment waits for the approval of the end user who pays.
 * - `approval.approved`: The user approved the payment, on the device that the event names.
 * - `approval.declined`: The user declined the payment.
 * - `bundle.created`: Its partner made a bundle.
 * - `bundle.edited`: Its partner replaced a bundle's content.
 * - `bundle.commented`: Somebody said something about a bundle.
 * - `bundle.tested`: The sandbox endpoint of a bundle was tested.
 * - `bundle.publication_asked`: An operator asked for the publication of a bundle, which a test precedes.
 * - `bundle.publication_failed`: A bundle was not published.
 * - `bundle.superseded`: A later version took the place of a bundle, in the sandbox or live.
 * - `bundle.test_asked`: Somebody asked for another test of a bundle.
 * - `bundle.submitted`: Its partner asked for a review of a bundle.
 * - `bundle.in_review`: A reviewer began with a bundle.
 * - `bundle.approved`: A reviewer approved a bundle.
 * - `bundle.rejected`: A reviewer rejected a bundle.
 * - `bundle.changes_requested`: A reviewer asked for changes of a bundle.
 * - `bundle.withdrawn`: Its partner withdrew a bundle.
 * - `bundle.published`: A bundle was published in the sandbox or live.
 * - `bundle.revoked`: An operator revoked a bundle.
 */
export type EventType = (typeof EVENT_TYPES)[number];

/** Every {@link Actor}. */
export const ACTORS = [
  "client",
  "system",
  "rail",
  "operator",
  "user",
] as const;

/**
 * Who caused an event.
 *
 * - `client`: The client, through a call.
 * - `system`: The gateway itself.
 * - `rail`: The rail, through an answer or a callback.
 * - `operator`: A person who works for the gateway.
 * - `user`: The end user who pays, on a device.
 */
export type Actor = (typeof ACTORS)[number];

/**
 * What an operator did to a client's account.
 *
 * - `deposit`: The client paid in.
 * - `withdrawal`: The client was paid out.
 * - `credit_line`: The client's credit was set: no money moves.
 */
export type MovementKind = "deposit" | "withdrawal" | "credit_line";

/**
 * The state of a settlement, an attempt or a reversal, as events record it: they share the names.
 *
 * - `accepted`: Stored, money held, nothing sent.
 * - `submitted`: Stored as sent; the rail may have it.
 * - `unknown`: The rail's answer is not known.
 * - `completed`: Carried out.
 * - `partially_reversed`: A part was reversed.
 * - `reversed`: All was reversed.
 * - `returned`: The rail bounced it after completion.
 * - `failed`: Proved not to have happened.
 * - `cancelled`: Withdrawn before anything was sent.
 * - `started`: An attempt was stored and may have been sent.
 * - `declined`: The rail refused.
 * - `not_sent`: Provably never reached the rail.
 */
export type StateName =
  | "accepted"
  | "submitted"
  | "unknown"
  | "completed"
  | "partially_reversed"
  | "reversed"
  | "returned"
  | "failed"
  | "cancelled"
  | "started"
  | "declined"
  | "not_sent";

/**
 * The signature algorithms (RFC 9421, section 3.3).
 *
 * - `ecdsa-p256-sha256`: ECDSA over P-256 with SHA-256; the signature is `r‖s`, 64 bytes.
 * - `ed25519`: Ed25519 (RFC 8032).
 */
export type KeyAlgorithm = "ecdsa-p256-sha256" | "ed25519";

/**
 * Whether a key may sign.
 *
 * - `active`: The key may sign.
 * - `pending`: The key may not sign before an operator approves it.
 * - `revoked`: The key may never sign again.
 */
export type KeyStatus = "active" | "pending" | "revoked";

/**
 * The progress of a delivery.
 *
 * - `pending`: It will be tried, or tried again.
 * - `delivered`: The receiver responded with a 2xx.
 * - `failed`: All tries failed.
 */
export type DeliveryStatus = "pending" | "delivered" | "failed";

/**
 * The reason for a delivery.
 *
 * - `event`: The event occurred.
 * - `redelivery`: The owner requested this delivery again.
 * - `replay`: The owner requested all events since some time.
 * - `test`: The owner tested the endpoint.
 */
export type DeliveryCause = "event" | "redelivery" | "replay" | "test";

/**
 * The kind of a rail's answer, without the details.
 *
 * - `completed`: Paid.
 * - `accepted`: Accepted; the outcome follows later.
 * - `declined`: Refused.
 * - `not_sent`: Never sent, or proved not to have arrived by an authoritative inquiry.
 * - `unknown`: Timeout, connection reset, 5xx, unreadable reply.
 * - `returned`: Bounced after completion.
 */
export type AnswerKind = "completed" | "accepted" | "declined" | "not_sent" | "unknown" | "returned";

/**
 * The state of an attempt.
 *
 * - `started`: Stored; it may have been sent.
 * - `accepted`: The rail has accepted it and reports the outcome later.
 * - `unknown`: Unknown whether the rail has it.
 * - `completed`: Paid.
 * - `declined`: Refused by the rail; it will never pay.
 * - `not_sent`: Proved never to have reached the rail; it will never pay.
 */
export type AttemptStatus = "started" | "accepted" | "unknown" | "completed" | "declined" | "not_sent";

/**
 * The effect of a transfer on the totals.
 *
 * - `pending`: Holds the amount: pending on both sides.
 * - `post`: Moves the amount that an earlier pending transfer holds.
 * - `void`: Releases the amount that an earlier pending transfer holds.
 * - `single`: Moves the amount at once, without an earlier hold.
 */
export type TransferKind = "pending" | "post" | "void" | "single";

/**
 * The reason for a transfer.
 *
 * - `funding`: Money that enters the system.
 * - `payment`: A settlement's amount.
 * - `fee`: A settlement's fee.
 * - `reversal`: A reversal's amount, back to the client.
 * - `return`: A bounced payment, back to the client.
 * - `deposit`: Real money that a client paid in.
 * - `withdrawal`: Real money that was paid out to a client.
 * - `fee_refund`: What a reversal gives back of a settlement's fee.
 */
export type TransferCode = "funding" | "payment" | "fee" | "reversal" | "return" | "deposit" | "withdrawal" | "fee_refund";

/**
 * Why something needs review.
 *
 * - `no_end_for_a_day`: Its outcome was still unknown after a day.
 * - `discrepancy`: An answer of the rail contradicts what was proved.
 * - `in_statement`: The provider's statement has it, and here its outcome is open.
 * - `statement_differs`: The provider's statement contradicts the recorded outcome.
 */
export type ReviewReason = "no_end_for_a_day" | "discrepancy" | "in_statement" | "statement_differs";

/**
 * Whether something that was asked for waits, or how it was decided.
 *
 * - `pending`: Waits for a second operator.
 * - `confirmed`: Confirmed, and in effect.
 * - `declined`: Declined.
 * - `expired`: Nobody decided in time.
 */
export type ApprovalStatus = "pending" | "confirmed" | "declined" | "expired";

/**
 * An act of an operator that others may have to confirm.
 *
 * - `approve_client`: Activates a client's live keys.
 * - `suspend_client`: Refuses all calls of a client.
 * - `resume_client`: Ends a client's suspension.
 * - `set_limits`: Replaces a client's limits in one mode and currency.
 * - `set_fees`: Replaces a client's fees.
 * - `set_floor`: Replaces the floor of a client's live account: its credit.
 * - `deposit`: Credits what a client paid in.
 * - `withdraw`: Debits what a client was paid out.
 * - `put_provider`: Adds or replaces a provider.
 * - `enable_provider`: Enables a provider.
 * - `disable_provider`: Disables a provider.
 * - `maintain_provider`: Puts a provider into maintenance.
 * - `put_routes`: Replaces the table of routes.
 * - `resolve_review`: Decides about something that needs review.
 * - `set_session_signatures`: Replaces which calls a client's sessions may sign in one mode.
 * - `publish_bundle`: Publishes a partner's bundle.
 * - `revoke_bundle`: Revokes a published bundle.
 */
export type OperatorAct =
  | "approve_client"
  | "suspend_client"
  | "resume_client"
  | "set_limits"
  | "set_fees"
  | "set_floor"
  | "deposit"
  | "withdraw"
  | "put_provider"
  | "enable_provider"
  | "disable_provider"
  | "maintain_provider"
  | "put_routes"
  | "resolve_review"
  | "set_session_signatures"
  | "publish_bundle"
  | "revoke_bundle";

/**
 * What an operator may do. Each role may do what those before it may.
 *
 * - `viewer`: Reads everything.
 * - `agent`: Acts on clients, money, providers, routes and reviews.
 * - `approver`: Confirms what others asked for.
 * - `admin`: Invites and revokes operators, and changes their roles.
 */
export type OperatorRole = "viewer" | "agent" | "approver" | "admin";

/**
 * Whether an operator may sign.
 *
 * - `invited`: Invited, without a key.
 * - `active`: May sign.
 * - `revoked`: May never sign again.
 */
export type OperatorStatus = "invited" | "active" | "revoked";

/**
 * Whether a reconciliation is complete.
 *
 * - `running`: It is being made. If its host stopped, the same file makes it again.
 * - `done`: It is complete, and does not change any more.
 */
export type ReconciliationStatus = "running" | "done";

/**
 * The format of a statement.
 *
 * - `csv`: A table with a header row; the provider's settings name its columns.
 * - `camt.053`: ISO 20022 camt.053: a bank-to-customer statement.
 * - `camt.054`: ISO 20022 camt.054: a notification of debits and credits.
 * - `gsma`: Statement entries of the GSMA Mobile Money API, as a JSON array.
 */
export type StatementFormat = "csv" | "camt.053" | "camt.054" | "gsma";

/**
 * How a statement and the settlements differ.
 *
 * - `missing_here`: The provider has it, and here it is not carried out, or not known at all.
 * - `missing_there`: Here it is carried out, and the provider's statement does not have it.
 * - `amount_differs`: Both have it, with different amounts or currencies.
 * - `duplicate_there`: The provider has it more than once.
 */
export type FindingKind = "missing_here" | "missing_there" | "amount_differs" | "duplicate_there";

/**
 * What connects a line of a statement to a settlement.
 *
 * - `rail_reference`: The provider's own reference for it.
 * - `rail_key`: The key under which the gateway sent it.
 * - `amount`: The amount, the date and, where the statement has one, the participant.
 */
export type MatchedBy = "rail_reference" | "rail_key" | "amount";

/**
 * What a person decided about something that needs review.
 *
 * - `confirmed_completed`: The rail carried it out, as evidence from outside the gateway shows.
 * - `confirmed_failed`: The rail did not carry it out and never will, as evidence from outside the gateway shows.
 * - `accept_discrepancy`: The recorded outcome stays, although something contradicts it.
 * - `keep_waiting`: There is no evidence yet: ask again in a day.
 */
export type Resolution = "confirmed_completed" | "confirmed_failed" | "accept_discrepancy" | "keep_waiting";

/**
 * Whether a user's devices may call.
 *
 * - `active`: They may.
 * - `blocked`: They may not, until the client changes it.
 */
export type UserStatus = "active" | "blocked";

/**
 * How far the approval of a payment by its user is.
 *
 * - `pending`: The payment waits for the user.
 * - `approved`: The user approved it.
 * - `declined`: The user declined it.
 * - `ended`: It ended before the user decided: it expired, or the client cancelled it.
 */
export type PaymentApprovalStatus = "pending" | "approved" | "declined" | "ended";

/**
 * The state of a bundle.
 *
 * - `draft`: Its partner works on it.
 * - `submitted`: Its partner asks for a review.
 * - `in_review`: A reviewer looks at it.
 * - `changes_requested`: A reviewer asks for changes; its partner works on it.
 * - `approved`: A reviewer approved it: it may be published.
 * - `rejected`: A reviewer rejected it.
 * - `withdrawn`: Its partner withdrew it.
 * - `published`: Its provider takes payments: in the sandbox, and perhaps live.
 * - `revoked`: Its provider takes no new payments any more.
 */
export type BundleStatus =
  | "draft"
  | "submitted"
  | "in_review"
  | "changes_requested"
  | "approved"
  | "rejected"
  | "withdrawn"
  | "published"
  | "revoked";

/**
 * What a step of a bundle's timeline is about.
 *
 * - `bundle.created`: Its partner made it.
 * - `bundle.edited`: Its partner replaced its content.
 * - `bundle.submitted`: Its partner asked for a review.
 * - `bundle.withdrawn`: Its partner withdrew it.
 * - `bundle.in_review`: A reviewer began.
 * - `bundle.approved`: A reviewer approved it.
 * - `bundle.rejected`: A reviewer rejected it.
 * - `bundle.changes_requested`: A reviewer asked for changes.
 * - `bundle.commented`: Somebody said something about it.
 * - `bundle.tested`: Its sandbox endpoint was tested.
 * - `bundle.publication_asked`: An operator asked for its publication, which a test precedes.
 * - `bundle.published`: It was published in the sandbox or live.
 * - `bundle.publication_failed`: It was not published.
 * - `bundle.revoked`: An operator revoked it.
 * - `bundle.superseded`: A later version took its place, in the sandbox or live.
 * - `bundle.test_asked`: Somebody asked for another test.
 */
export type BundleStepKind =
  | "bundle.created"
  | "bundle.edited"
  | "bundle.submitted"
  | "bundle.withdrawn"
  | "bundle.in_review"
  | "bundle.approved"
  | "bundle.rejected"
  | "bundle.changes_requested"
  | "bundle.commented"
  | "bundle.tested"
  | "bundle.publication_asked"
  | "bundle.published"
  | "bundle.publication_failed"
  | "bundle.revoked"
  | "bundle.superseded"
  | "bundle.test_asked";

/**
 * How the test of a bundle's sandbox endpoint is.
 *
 * - `waiting`: It waits for a server.
 * - `running`: A server makes it.
 * - `passed`: No check failed.
 * - `failed`: A check failed.
 */
export type ConformanceStatus = "waiting" | "running" | "passed" | "failed";

/**
 * Who vouches for the key of a device.
 *
 * - `android-key`: Android Key Attestation.
 * - `apple-app-attest`: App Attest, of Apple.
 */
export type AttestationFormat = "android-key" | "apple-app-attest";

/**
 * Where the key of a device lives, the weakest place first.
 *
 * - `software`: In software.
 * - `trusted_environment`: In the trusted environment of the processor.
 * - `strongbox`: In a security chip.
 * - `secure_enclave`: Beside an app that Apple vouches for, on a device with a Secure Enclave.
 */
export type AttestationLevel = "software" | "trusted_environment" | "strongbox" | "secure_enclave";

/**
 * What a notification tells.
 *
 * - `approval.requested`: A payment waits for the user's approval.
 * - `approval.expired`: A payment was cancelled because its user did not approve it in time.
 * - `payment.completed`: A payment arrived.
 * - `payment.failed`: A payment failed.
 * - `payment.cancelled`: A payment was cancelled before it was sent.
 * - `payment.returned`: The rail returned a payment after it had completed.
 * - `payment.reversed`: All or part of a payment was given back.
 * - `device.enrolled`: A device was enrolled.
 * - `device.revoked`: A device was revoked.
 */
export type NotificationKind =
  | "approval.requested"
  | "approval.expired"
  | "payment.completed"
  | "payment.failed"
  | "payment.cancelled"
  | "payment.returned"
  | "payment.reversed"
  | "device.enrolled"
  | "device.revoked";

/**
 * What a value is measured in.
 *
 * - `ms`: Milliseconds.
 * - `s`: Seconds.
 * - `count`: A number of things.
 * - `bytes`: Bytes.
 * - `percent`: Hundredths.
 */
export type QualityUnit = "ms" | "s" | "count" | "bytes" | "percent";

/**
 * What a device was connected by.
 *
 * - `wifi`: A wireless network.
 * - `cellular`: A mobile network.
 * - `ethernet`: A cable.
 * - `offline`: Nothing.
 * - `unknown`: The app did not say.
 */
export type Network = "wifi" | "cellular" | "ethernet" | "offline" | "unknown";

/**
 * Where a client is, as one of its gateways sees it.
 *
 * - `leaving`: It is leaving for another gateway.
 * - `moved`: It moved to another gateway; this one keeps what it did here.
 * - `stayed`: It was about to leave, and stays.
 * - `arriving`: It is arriving from another gateway.
 * - `arrived`: It came from another gateway.
 */
export type PlaceState = "leaving" | "moved" | "stayed" | "arriving" | "arrived";

/** Every {@link GatewayCode}. */
export const GATEWAY_CODES = [
  "malformed_json",
  "malformed_request",
  "invalid_cursor",
  "digest_mismatch",
  "token_missing",
  "token_invalid",
  "token_expired",
  "signature_missing",
  "signature_invalid",
  "challenge_invalid",
  "challenge_expired",
  "nonce_replayed",
  "clock_skew",
  "key_unknown",
  "key_revoked",
  "signature_key_required",
  "insufficient_scope",
  "enrollment_pending",
  "enrollment_closed",
  "enrollment_full",
  "invitation_invalid",
  "mode_mismatch",
  "client_suspended",
  "user_blocked",
  "device_code_invalid",
  "second_operator_required",
  "settlement_not_found",
  "reversal_not_found",
  "review_not_found",
  "reconciliation_not_found",
  "bundle_not_found",
  "operator_not_found",
  "approval_not_found",
  "user_not_found",
  "device_not_found",
  "notification_not_found",
  "push_subscription_not_found",
  "payment_approval_not_found",
  "account_not_found",
  "balance_not_found",
  "movement_not_found",
  "key_not_found",
  "tile_not_found",
  "webhook_not_found",
  "delivery_not_found",
  "client_not_found",
  "provider_not_found",
  "route_not_found",
  "version_sunset",
  "method_not_allowed",
  "not_acceptable",
  "body_too_large",
  "unsupported_media_type",
  "timeout",
  "reference_conflict",
  "reference_elsewhere",
  "settlement_in_flight",
  "invalid_state",
  "approval_decided",
  "reversal_exceeds_remaining",
  "already_reversed",
  "epoch_changed",
  "not_completed",
  "version_conflict",
  "client_moving",
  "client_moved",
  "request_in_progress",
  "key_exists",
  "too_many_webhooks",
  "too_many_bundles",
  "bundle_unusable",
  "invalid_fields",
  "statement_unusable",
  "insufficient_funds",
  "amount_below_minimum",
  "amount_above_maximum",
  "limit_daily_value",
  "limit_daily_count",
  "same_party",
  "quote_expired",
  "idempotency_key_reused",
  "reversal_not_supported",
  "reversal_window_closed",
  "receipt_invalid",
  "rate_limited",
  "internal",
  "no_route",
  "not_logged_yet",
  "store_unavailable",
] as const;

/**
 * An error code of the gateway.
 *
 * - `malformed_json`: The body is not valid JSON.
 * - `malformed_request`: The request is malformed.
 * - `invalid_cursor`: The cursor is not one that this list gave out.
 * - `digest_mismatch`: The body does not match its Content-Digest.
 * - `token_missing`: An access token is required.
 * - `token_invalid`: The access token is not known.
 * - `token_expired`: The access token has expired.
 * - `signature_missing`: The call must be signed.
 * - `signature_invalid`: The signature does not match the call.
 * - `challenge_invalid`: The nonce does not begin with a challenge of this gateway.
 * - `challenge_expired`: The challenge has expired; take a fresh one.
 * - `nonce_replayed`: The nonce was used before.
 * - `clock_skew`: The signature's time is too far from the gateway's.
 * - `key_unknown`: The key is not enrolled.
 * - `key_revoked`: The key was revoked.
 * - `signature_key_required`: The key itself must sign this call.
 * - `insufficient_scope`: The credential may not do this.
 * - `enrollment_pending`: An operator has not approved the key yet.
 * - `enrollment_closed`: The gateway takes no new clients.
 * - `enrollment_full`: The gateway has as many clients as it takes.
 * - `invitation_invalid`: Enrolment requires a valid invitation.
 * - `mode_mismatch`: The credential belongs to another mode.
 * - `client_suspended`: The client is suspended.
 * - `user_blocked`: The user is blocked.
 * - `device_code_invalid`: The code is not valid.
 * - `second_operator_required`: Somebody else has to decide this.
 * - `settlement_not_found`: No such settlement.
 * - `reversal_not_found`: No such reversal.
 * - `review_not_found`: Nothing waits for a decision.
 * - `reconciliation_not_found`: No such reconciliation.
 * - `bundle_not_found`: No such bundle.
 * - `operator_not_found`: No such operator.
 * - `approval_not_found`: Nothing with this id was asked for.
 * - `user_not_found`: No such user.
 * - `device_not_found`: No such device.
 * - `notification_not_found`: No such notification.
 * - `push_subscription_not_found`: No such push subscription.
 * - `payment_approval_not_found`: No payment with this id waits for the user.
 * - `account_not_found`: The client has no account in this currency.
 * - `balance_not_found`: No balance in that currency.
 * - `movement_not_found`: No such deposit, withdrawal or credit line.
 * - `key_not_found`: No such key.
 * - `tile_not_found`: The log has no such tile.
 * - `webhook_not_found`: No such webhook.
 * - `delivery_not_found`: No such delivery.
 * - `client_not_found`: No such client.
 * - `provider_not_found`: No such provider.
 * - `route_not_found`: There is no such path.
 * - `version_sunset`: This route has stopped.
 * - `method_not_allowed`: That path does not take this method.
 * - `not_acceptable`: No representation matches the Accept header.
 * - `body_too_large`: The body is too large.
 * - `unsupported_media_type`: The body must be application/json.
 * - `timeout`: The request took too long.
 * - `reference_conflict`: The reference was used for a different request.
 * - `reference_elsewhere`: The reference was used at another gateway.
 * - `settlement_in_flight`: The settlement is on its way; wait until it is final.
 * - `invalid_state`: Its state does not allow this.
 * - `approval_decided`: The payment does not wait for the user any more.
 * - `reversal_exceeds_remaining`: More than what is left to reverse.
 * - `already_reversed`: The settlement is already reversed.
 * - `epoch_changed`: The feed is not the one you followed.
 * - `not_completed`: The settlement is not completed, so there is no receipt.
 * - `version_conflict`: It was changed in the meantime.
 * - `client_moving`: The client is moving to another gateway.
 * - `client_moved`: The client moved to another gateway.
 * - `request_in_progress`: The same request is still in progress.
 * - `key_exists`: The key is enrolled already.
 * - `too_many_webhooks`: The limit on webhooks is reached.
 * - `too_many_bundles`: The limit on bundles is reached.
 * - `bundle_unusable`: The bundle cannot be read.
 * - `invalid_fields`: Some fields are not valid.
 * - `statement_unusable`: The statement cannot be used.
 * - `insufficient_funds`: The account does not hold enough.
 * - `amount_below_minimum`: Less than the smallest payment.
 * - `amount_above_maximum`: More than the largest payment.
 * - `limit_daily_value`: The payments of today would add up to too much.
 * - `limit_daily_count`: There were too many payments today.
 * - `same_party`: Payer and payee are the same.
 * - `quote_expired`: The quote has expired; ask for a new one.
 * - `idempotency_key_reused`: The Idempotency-Key was used for a different request.
 * - `reversal_not_supported`: The provider cannot reverse this.
 * - `reversal_window_closed`: It is too late to reverse this.
 * - `receipt_invalid`: The receipt is not one that these keys signed.
 * - `rate_limited`: Too many requests; slow down.
 * - `internal`: Something went wrong on our side.
 * - `no_route`: No provider serves that participant and currency now.
 * - `not_logged_yet`: The event is not in the log yet; try again in a moment.
 * - `store_unavailable`: The store cannot be reached; nothing was lost.
 */
export type GatewayCode = (typeof GATEWAY_CODES)[number];

/**
 * The type of a webhook's message.
 *
 * - `settlement.accepted`: Stored, money held.
 * - `settlement.submitted`: Recorded as sent; the rail may have the payment.
 * - `settlement.unknown`: The rail's answer is not known.
 * - `settlement.completed`: Paid.
 * - `settlement.failed`: Proved not paid.
 * - `settlement.cancelled`: Cancelled before it was sent.
 * - `settlement.partially_reversed`: Part of the money was returned.
 * - `settlement.reversed`: All of the money was returned.
 * - `settlement.returned`: The rail returned the payment after it had completed.
 * - `settlement.discrepancy`: Something contradicts a proven result.
 * - `settlement.reviewed`: A person reviewed the settlement.
 * - `attempt.started`: An attempt was stored, but has not left yet.
 * - `attempt.answered`: The rail's answer changed the attempt.
 * - `reversal.accepted`: A reversal was requested.
 * - `reversal.submitted`: Recorded as sent; the rail may have the reversal.
 * - `reversal.unknown`: The rail's answer is not known.
 * - `reversal.completed`: The money was returned.
 * - `reversal.failed`: Proved not reversed.
 * - `balance.deposited`: An operator credited what the client paid in.
 * - `balance.withdrawn`: An operator debited what the client was paid out.
 * - `balance.credit_changed`: An operator set the client's credit.
 * - `approval.requested`: The payment waits for the approval of the end user who pays.
 * - `approval.approved`: The user approved the payment, on the device that the event names.
 * - `approval.declined`: The user declined the payment.
 * - `bundle.created`: Its partner made a bundle.
 * - `bundle.edited`: Its partner replaced a bundle's content.
 * - `bundle.commented`: Somebody said something about a bundle.
 * - `bundle.tested`: The sandbox endpoint of a bundle was tested.
 * - `bundle.publication_asked`: An operator asked for the publication of a bundle, which a test precedes.
 * - `bundle.publication_failed`: A bundle was not published.
 * - `bundle.superseded`: A later version took the place of a bundle, in the sandbox or live.
 * - `bundle.test_asked`: Somebody asked for another test of a bundle.
 * - `bundle.submitted`: Its partner asked for a review of a bundle.
 * - `bundle.in_review`: A reviewer began with a bundle.
 * - `bundle.approved`: A reviewer approved a bundle.
 * - `bundle.rejected`: A reviewer rejected a bundle.
 * - `bundle.changes_requested`: A reviewer asked for changes of a bundle.
 * - `bundle.withdrawn`: Its partner withdrew a bundle.
 * - `bundle.published`: A bundle was published in the sandbox or live.
 * - `bundle.revoked`: An operator revoked a bundle.
 * - `webhook.disabled`: Another webhook of the client was disabled.
 */
export type WebhookTopic =
  | "settlement.accepted"
  | "settlement.submitted"
  | "settlement.unknown"
  | "settlement.completed"
  | "settlement.failed"
  | "settlement.cancelled"
  | "settlement.partially_reversed"
  | "settlement.reversed"
  | "settlement.returned"
  | "settlement.discrepancy"
  | "settlement.reviewed"
  | "attempt.started"
  | "attempt.answered"
  | "reversal.accepted"
  | "reversal.submitted"
  | "reversal.unknown"
  | "reversal.completed"
  | "reversal.failed"
  | "balance.deposited"
  | "balance.withdrawn"
  | "balance.credit_changed"
  | "approval.requested"
  | "approval.approved"
  | "approval.declined"
  | "bundle.created"
  | "bundle.edited"
  | "bundle.commented"
  | "bundle.tested"
  | "bundle.publication_asked"
  | "bundle.publication_failed"
  | "bundle.superseded"
  | "bundle.test_asked"
  | "bundle.submitted"
  | "bundle.in_review"
  | "bundle.approved"
  | "bundle.rejected"
  | "bundle.changes_requested"
  | "bundle.withdrawn"
  | "bundle.published"
  | "bundle.revoked"
  | "webhook.disabled";

/** A problem of a request, and where it is. */
export interface FieldProblem {
  /** RFC 6901 JSON pointer into the request body; for a query parameter, its name. */
  readonly pointer: string;
  /** Stable code, such as `required`, `wrong_type`, `amount_scale`. */
  readonly code: string;
  /** One sentence for people that describes a valid value. */
  readonly message: string;
  /**
   * The values in the message, for programs that write their own: limits as `min` and `max`, as `nearest` what was probably meant,
   * as `hint` which of several reasons with the same code it is.
   */
  readonly params?: Readonly<Record<string, string>>;
}

/** An RFC 9457 problem: why a request was not carried out. */
export interface Problem {
  /** The problem type: the path of its page on the server, `/docs/problems/<code>`. */
  readonly type?: string;
  /** One short sentence, the same for every occurrence. */
  readonly title?: string;
  /** The HTTP status. */
  readonly status?: number;
  /** One sentence about this occurrence. */
  readonly detail?: string;
  /** The requested path; absent if there was no HTTP request. */
  readonly instance?: string;
  /** A stable code for programs. */
  readonly code: string;
  /** The category of the code. */
  readonly category?: ErrorCategory;
  /** Whether the same request is safe and useful to send again. */
  readonly retryable?: boolean;
  /** Identifies this request in the server's log; absent if there was no HTTP request. */
  readonly request_id?: string;
  /** In the sandbox, for an invalid signature: the base (RFC 9421, section 2.5) that should have been signed, without the token. */
  readonly signature_base?: string;
  /** The address of the client's other gateway: the one to which it moved, or the one that has what the call is about. */
  readonly other_gateway?: string;
  /** Every problem of the request, and where it is. */
  readonly errors?: readonly FieldProblem[];
}

/** A settlement to create. */
export interface CreateRequest {
  /** More than zero, at most 15 significant digits, no exponent, no more decimals than the currency has. A JSON number, or a string with the same text. */
  readonly amount: AmountInput;
  /** ISO 4217 code. */
  readonly currency: string;
  /** `namespace:identifier`. */
  readonly to: string;
  /** The client's unique reference; makes the call idempotent. */
  readonly reference: string;
  /** If true, no real money moves. Default: the credential's mode. */
  readonly sandbox?: boolean;
  /** A description for people. */
  readonly description?: string;
  /** The client's own key-value pairs, at most 50. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Pins the payment to this provider. */
  readonly provider?: string;
  /** From a check; fixes the fee. */
  readonly quote_id?: string;
  /** RFC 3339; the settlement is cancelled if it was not dispatched by then. */
  readonly expires_at?: TimeInput;
  /**
   * The client's end user who pays, by the client's own name for them: their limits apply, and above one of them the payment waits
   * until they approve it. A user's device leaves it out: it pays as its user.
   */
  readonly user?: string;
}

/** The amount to reverse, and why. */
export interface ReverseRequest {
  /** As in a create; default: everything that can still be reversed. */
  readonly amount?: AmountInput;
  /** The reason for the reversal. */
  readonly reason?: ReversalReason;
  /** The client's reference, unique among its reversals. */
  readonly reference?: string;
  /** A description for people. */
  readonly description?: string;
}

/** Play money to add to a sandbox account. */
export interface FundRequest {
  /** ISO 4217 code. */
  readonly currency: string;
  /** More than zero, at most 15 significant digits, no exponent, no more decimals than the currency has. A JSON number, or a string with the same text. */
  readonly amount: AmountInput;
}

/** Where a reset goes on. */
export interface ResetRequest {
  /** `next_cursor` of the previous response. */
  readonly cursor?: string;
}

/** How the simulated operator and the way to it fail. What is left out is 0. */
export interface FaultsRequest {
  /** The share of calls that do not reach the operator. */
  readonly rate?: number;
  /**
   * How long the operator takes to answer a payment or a reversal, in milliseconds; at most an hour. An answer that takes
   * longer than the gateway waits comes late.
   */
  readonly latency_ms?: number;
  /** The share of calls whose answer is lost after the operator has done what was asked. */
  readonly drop_answer_rate?: number;
  /** Selects which calls are hit: the same seed and the same calls have the same faults. At most 2⁵³ − 1. */
  readonly seed?: number;
}

/** The faults in force. */
export interface Faults {
  /** The share of calls that do not reach the operator. */
  readonly rate: number;
  /** How long the operator takes to answer a payment or a reversal, in milliseconds. */
  readonly latency_ms: number;
  /** The share of calls whose answer is lost after the operator has done what was asked. */
  readonly drop_answer_rate: number;
  /** Selects which calls are hit. */
  readonly seed: number;
}

/** What a reset has done. */
export interface ResetResult {
  /** How many settlements were ended. */
  readonly ended: number;
  /** How many are still open, because their provider is not the simulated operator. */
  readonly still_open: number;
  /**
   * Set if there are more settlements than one call looks at: send the request again with this as `cursor`. Null when everything is
   * done and the balances are restored.
   */
  readonly next_cursor: string | null;
}

/** How to change the clock of the sandbox. */
export interface ClockChange {
  /** Stops the clock (`true`) or lets it run (`false`); unchanged if left out. */
  readonly frozen?: boolean;
  /** Moves it ahead first, by this many milliseconds; at most 366 days. */
  readonly advance_ms?: number;
}

/** The state of the clock. */
export interface Clock {
  /** The sandbox's time, RFC 3339. */
  readonly now: Timestamp;
  /** Whether the clock is stopped, or will be when it has arrived. */
  readonly frozen: boolean;
  /** How far it is ahead of the host's clock, in milliseconds; negative after it was stopped for a while. */
  readonly ahead_ms: number;
  /** The time to which it is on its way, RFC 3339; absent once it has arrived. */
  readonly advancing_to?: Timestamp;
}

/** What becomes of a settlement of the sandbox. */
export interface AdvanceRequest {
  /** What the simulated operator does. */
  readonly to: "submitted" | "unknown" | "completed" | "failed" | "returned";
  /** Why it fails; only with `failed`. Default: `other`. */
  readonly code?: FailureCode;
}

/** What the provider reports about the payee. */
export interface Payee {
  /** The account holder's name, if the provider discloses it. */
  readonly display_name: string | null;
  /** Whether the provider knows the participant. */
  readonly match: PayeeMatch;
}

/** Why something failed. */
export interface Failure {
  /** The gateway's code. */
  readonly code: FailureCode;
  /** The category of the code. */
  readonly category: ErrorCategory;
  /** One sentence for people. */
  readonly message: string;
  /** The rail's own code. */
  readonly rail_code: string | null;
  /** ISO 20022 reason. */
  readonly iso_reason: string;
}

/** Paths of a settlement's resources, relative to the base address. */
export interface SettlementLinks {
  /** The settlement itself. */
  readonly self: string;
  /** Its status. */
  readonly status: string;
  /** Its trace. */
  readonly events: string;
  /** Reverses or cancels it. */
  readonly reverse: string;
  /** Its receipt. */
  readonly receipt: string;
}

/** The approval of a payment by its end user. */
export interface PaymentApproval {
  /** `pending`, `approved`, `declined`, or `ended` if the payment ended before the user decided. */
  readonly status: PaymentApprovalStatus;
  /** When the user decided, RFC 3339. */
  readonly decided_at: Timestamp | null;
}

/** A settlement. */
export interface Settlement {
  /** `stl_` and a ULID. */
  readonly id: string;
  /** The client's reference; the id again for an incoming payment. */
  readonly reference: string;
  /** The settlement's state. */
  readonly status: SettlementStatus;
  /** The number of events so far; grows with every event. */
  readonly version: number;
  /** Whether no real money moves. */
  readonly sandbox: boolean;
  /** Whether the client pays (`outgoing`) or is paid by another client of the gateway (`incoming`). */
  readonly direction: Direction;
  /** The amount, with the currency's decimals. */
  readonly amount: Amount;
  /** The amount in minor units, an integer as a string. */
  readonly amount_minor: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** Who paid, as a participant; null for an outgoing payment. */
  readonly from: string | null;
  /** The receiving participant, in canonical form. */
  readonly to: string;
  /** What the provider reports about the payee. */
  readonly payee: Payee;
  /** The fee, charged in addition to the amount. */
  readonly fee: Amount;
  /** Amount plus fee; zero for an incoming payment. */
  readonly total_debit: Amount;
  /** The provider of the current attempt; `books` for a payment between two clients. */
  readonly provider: string;
  /** The rail's own reference. */
  readonly rail_reference: string | null;
  /** How many attempts were started. */
  readonly attempts: number;
  /** Why it failed; null if it did not. */
  readonly failure: Failure | null;
  /** Whether a person must look at it. */
  readonly needs_review: boolean;
  /** The amount given back by completed reversals. */
  readonly reversed_amount: Amount;
  /** The amount of reversals in flight. */
  readonly reversing_amount: Amount;
  /** What completed reversals gave back of the fee; only if they did. */
  readonly fee_refunded?: Amount;
  /** ISO 20022 status. */
  readonly iso_status: IsoStatus;
  /** The client's description. */
  readonly description: string | null;
  /** The client's own key-value pairs. */
  readonly metadata: Readonly<Record<string, string>>;
  /** `cli_` and a ULID. */
  readonly client_id: string;
  /** When it was created, RFC 3339. */
  readonly created_at: Timestamp;
  /** When it last changed, RFC 3339. */
  readonly updated_at: Timestamp;
  /** When it first became final, RFC 3339. */
  readonly completed_at: Timestamp | null;
  /** The client's end user who pays, by the client's own name for them; absent if none does. */
  readonly user?: string;
  /** The approval of that user; absent if the payment needs none. */
  readonly approval?: PaymentApproval;
  /** When it is cancelled if nothing was sent by then, RFC 3339. */
  readonly expires_at: Timestamp | null;
  /** Paths of related resources. */
  readonly links: SettlementLinks;
}

/** A settlement's short form, for polling. */
export interface StatusView {
  /** `stl_` and a ULID. */
  readonly id: string;
  /** The client's reference. */
  readonly reference: string;
  /** The settlement's state. */
  readonly status: SettlementStatus;
  /** The number of events so far; grows with every event. */
  readonly version: number;
  /** ISO 20022 status. */
  readonly iso_status: IsoStatus;
  /** Why it failed; null if it did not. */
  readonly failure: Failure | null;
  /** Whether a person must look at it. */
  readonly needs_review: boolean;
  /** Whether the state is final: it no longer changes by itself. */
  readonly final: boolean;
  /** When it last changed, RFC 3339. */
  readonly updated_at: Timestamp;
}

/** Details of `settlement.accepted`: the terms of the payment. */
export interface PaymentDetails {
  /** The amount, a decimal as text. */
  readonly amount: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** The fee, a decimal as text. */
  readonly fee: string;
  /** The payee. */
  readonly to: string;
}

/** Details of `approval.requested`. */
export interface ApprovalTerms {
  /** Until when the user can decide, RFC 3339. */
  readonly expires_at: Timestamp;
  /** The user who is asked, as the client names them. */
  readonly user: string;
}

/** The payment as an app showed it to its user. */
export interface ShownDetails {
  /** The amount, a decimal as text. */
  readonly amount: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** The name of the payee, if one was shown. */
  readonly payee_name?: string;
  /** The client's reference. */
  readonly reference: string;
  /** The payee. */
  readonly to: string;
}

/** Details of `approval.approved` and `approval.declined`: what the user's device signed. */
export interface ConsentDetails {
  /** The device: `dev_` and a ULID. */
  readonly device: string;
  /** The thumbprint of the device's key, which signed the call. */
  readonly key_id: string;
  /** Why the user declined. */
  readonly reason?: string;
  /** What the app showed to the user. */
  readonly shown: ShownDetails;
}

/** Details of an event whose type says everything. */
export interface NoDetails {
}

/** Details of `settlement.completed`: the terms, if the client is the payee. */
export interface CompletionDetails {
  /** The amount, a decimal as text. */
  readonly amount?: string;
  /** ISO 4217 code. */
  readonly currency?: string;
  /** The payer. */
  readonly from?: string;
  /** The payee. */
  readonly to?: string;
}

/** Details of an event that may say that a person must look at the settlement. */
export interface ReviewDetails {
  /** `true` if the event is about that. */
  readonly needs_review?: boolean;
  /** Why. */
  readonly reason?: ReviewReason;
}

/** Details of `settlement.failed`. */
export interface FailureDetails {
  /** Why it failed. */
  readonly code: FailureCode;
}

/** Details of `settlement.cancelled`. */
export interface CancellationDetails {
  /** `expired`, `declined` by its user, or `reset` of a sandbox; absent if the client cancelled it. */
  readonly reason?: string;
}

/** Details of an event that a reversal caused. */
export interface ReversalDetails {
  /** The reversal: `rev_` and a ULID. */
  readonly reversal: string;
}

/** Details of `reversal.accepted`. */
export interface ReversalTerms {
  /** The amount to give back, a decimal as text. */
  readonly amount: string;
  /** The reversal: `rev_` and a ULID. */
  readonly reversal: string;
}

/** What a provider answered to an attempt. */
export interface AnswerDetails {
  /** The answer. */
  readonly answer: AnswerKind;
  /** The provider's own reference. */
  readonly rail_reference?: string;
  /** Why it declined. */
  readonly code?: FailureCode;
  /** The provider's own code. */
  readonly rail_code?: string;
}

/**
 * Details of the later events of a reversal, and of what contradicts a proven result: what a provider answered, or that a person
 * must look at it.
 */
export interface OutcomeDetails {
  /** The amount given back, a decimal as text, if another client gave it back. */
  readonly amount?: string;
  /** The answer. */
  readonly answer?: AnswerKind;
  /** The provider's own reference. */
  readonly rail_reference?: string;
  /** Why it declined. */
  readonly code?: FailureCode;
  /** The provider's own code. */
  readonly rail_code?: string;
  /** `true` if a person must look at it. */
  readonly needs_review?: boolean;
  /** Why. */
  readonly reason?: ReviewReason;
  /** The reversal that it is about: `rev_` and a ULID. */
  readonly reversal?: string;
}

/** Details of `settlement.reviewed`. */
export interface DecisionDetails {
  /** What a person decided. */
  readonly resolution: Resolution;
  /** The reversal that it is about: `rev_` and a ULID. */
  readonly reversal?: string;
}

/** Details of `attempt.started`. */
export interface AttemptDetails {
  /** The provider's id. */
  readonly provider: string;
  /** The number of the try, from 2, if the attempt is sent again. */
  readonly sends?: number;
}

/** What an operator moved. */
export interface MovedDetails {
  /** The amount, a decimal as text. */
  readonly amount: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** `deposit` or `withdrawal`. */
  readonly kind: MovementKind;
  /** The operator's reference. */
  readonly reference: string;
}

/** Details of `balance.deposited` and `balance.withdrawn`. */
export interface MovementDetails {
  /** What was moved. */
  readonly movement: MovedDetails;
}

/** How an operator changed the credit. */
export interface CreditChange {
  /** The credit from then on, a decimal as text. */
  readonly amount: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** The credit before, a decimal as text. */
  readonly previous: string;
  /** The operator's reference. */
  readonly reference: string;
}

/** Details of `balance.credit_changed`. */
export interface CreditDetails {
  /** The credit. */
  readonly credit: CreditChange;
}

/** A step of a bundle. */
export interface BundleStepDetails {
  /** The digest of the bundle's revision. */
  readonly digest: string;
  /** The state before. */
  readonly from: BundleStatus;
  /** The revision that it is about. */
  readonly revision: number;
  /** SHA-256, in hexadecimal digits, of the comment and of the `data` on the timeline, each followed by a line feed. */
  readonly said_sha256: string;
  /** The state after. */
  readonly to: BundleStatus;
}

/** Details of the steps of a bundle, such as `bundle.submitted`. */
export interface BundleDetails {
  /** The step. */
  readonly bundle: BundleStepDetails;
}

/**
 * An event of the trace of a settlement, of money that an operator moved, or of a bundle.
 *
 * `hash` is the lower-case hex SHA-256 of the RFC 8785 form of this object without `hash`. `prev` is the hash of the previous
 * event, null for the first. The fields are in the order of that form.
 */
export interface EventOf<T extends EventType> {
  /** Who caused it. */
  readonly actor: Actor;
  /** When it happened, RFC 3339. */
  readonly at: Timestamp;
  /** The attempt concerned, from 1. */
  readonly attempt: number | null;
  /** Details of the event, by its type. */
  readonly data: EventDetails[T];
  /** The state before, if the event is about a state. */
  readonly from: StateName | null;
  /** The hash of this event. */
  readonly hash: string;
  /** `evt_` and a ULID. */
  readonly id: string;
  /** The hash of the previous event. */
  readonly prev: string | null;
  /** The client's reference; of money that an operator moved, the operator's. */
  readonly reference: string;
  /** Its place in the trace, from 1, without gaps. */
  readonly sequence: number;
  /** `stl_` and a ULID; null if it is about money that an operator moved. */
  readonly settlement_id: string | null;
  /** The state after, if the event is about a state. */
  readonly to: StateName | null;
  /** The type of event. */
  readonly type: T;
}

/** The details of an event, by its type. */
export interface EventDetails {
  /** Details of `settlement.accepted`. */
  readonly "settlement.accepted": PaymentDetails;
  /** Details of `settlement.submitted`. */
  readonly "settlement.submitted": NoDetails;
  /** Details of `settlement.unknown`. */
  readonly "settlement.unknown": ReviewDetails;
  /** Details of `settlement.completed`. */
  readonly "settlement.completed": CompletionDetails;
  /** Details of `settlement.failed`. */
  readonly "settlement.failed": FailureDetails;
  /** Details of `settlement.cancelled`. */
  readonly "settlement.cancelled": CancellationDetails;
  /** Details of `settlement.partially_reversed`. */
  readonly "settlement.partially_reversed": ReversalDetails;
  /** Details of `settlement.reversed`. */
  readonly "settlement.reversed": ReversalDetails;
  /** Details of `settlement.returned`. */
  readonly "settlement.returned": AnswerDetails;
  /** Details of `settlement.discrepancy`. */
  readonly "settlement.discrepancy": OutcomeDetails;
  /** Details of `settlement.reviewed`. */
  readonly "settlement.reviewed": DecisionDetails;
  /** Details of `attempt.started`. */
  readonly "attempt.started": AttemptDetails;
  /** Details of `attempt.answered`. */
  readonly "attempt.answered": AnswerDetails;
  /** Details of `reversal.accepted`. */
  readonly "reversal.accepted": ReversalTerms;
  /** Details of `reversal.submitted`. */
  readonly "reversal.submitted": OutcomeDetails;
  /** Details of `reversal.unknown`. */
  readonly "reversal.unknown": OutcomeDetails;
  /** Details of `reversal.completed`. */
  readonly "reversal.completed": OutcomeDetails;
  /** Details of `reversal.failed`. */
  readonly "reversal.failed": OutcomeDetails;
  /** Details of `balance.deposited`. */
  readonly "balance.deposited": MovementDetails;
  /** Details of `balance.withdrawn`. */
  readonly "balance.withdrawn": MovementDetails;
  /** Details of `balance.credit_changed`. */
  readonly "balance.credit_changed": CreditDetails;
  /** Details of `approval.requested`. */
  readonly "approval.requested": ApprovalTerms;
  /** Details of `approval.approved`. */
  readonly "approval.approved": ConsentDetails;
  /** Details of `approval.declined`. */
  readonly "approval.declined": ConsentDetails;
  /** Details of `bundle.created`. */
  readonly "bundle.created": BundleDetails;
  /** Details of `bundle.edited`. */
  readonly "bundle.edited": BundleDetails;
  /** Details of `bundle.commented`. */
  readonly "bundle.commented": BundleDetails;
  /** Details of `bundle.tested`. */
  readonly "bundle.tested": BundleDetails;
  /** Details of `bundle.publication_asked`. */
  readonly "bundle.publication_asked": BundleDetails;
  /** Details of `bundle.publication_failed`. */
  readonly "bundle.publication_failed": BundleDetails;
  /** Details of `bundle.superseded`. */
  readonly "bundle.superseded": BundleDetails;
  /** Details of `bundle.test_asked`. */
  readonly "bundle.test_asked": BundleDetails;
  /** Details of `bundle.submitted`. */
  readonly "bundle.submitted": BundleDetails;
  /** Details of `bundle.in_review`. */
  readonly "bundle.in_review": BundleDetails;
  /** Details of `bundle.approved`. */
  readonly "bundle.approved": BundleDetails;
  /** Details of `bundle.rejected`. */
  readonly "bundle.rejected": BundleDetails;
  /** Details of `bundle.changes_requested`. */
  readonly "bundle.changes_requested": BundleDetails;
  /** Details of `bundle.withdrawn`. */
  readonly "bundle.withdrawn": BundleDetails;
  /** Details of `bundle.published`. */
  readonly "bundle.published": BundleDetails;
  /** Details of `bundle.revoked`. */
  readonly "bundle.revoked": BundleDetails;
}

/** An event in a trace, one type for each type of event: a check of `type` tells what `data` is. */
export type SettlementEvent = { [T in EventType]: EventOf<T> }[EventType];

/** An event in its owner's feed. */
export interface FeedEvent {
  /** Its place in the feed, from 1, without gaps; use it as `after` or `Last-Event-ID`. */
  readonly position: number;
  /** The event, as in its trace. */
  readonly event: SettlementEvent;
}

/** A page of a feed. */
export interface FeedPage {
  /** The events, oldest first. */
  readonly data: readonly FeedEvent[];
  /** Whether there are more events. */
  readonly has_more: boolean;
  /** Pass it as `after` to get the next events, even if they have not happened yet. */
  readonly next_after: number;
  /**
   * The epoch of the positions, from 1. It changes when the gateway's operator restores a backup: later positions are then assigned
   * again. Pass it as `epoch` to be told. 1 at an older gateway, which has no epochs.
   */
  readonly epoch: number;
}

/** A page of a list. */
export interface Page<T> {
  /** The items of this page. */
  readonly data: readonly T[];
  /** Whether there are more items after this page. */
  readonly has_more: boolean;
  /** The cursor of the next page; opaque, null on the last page. */
  readonly next_cursor: string | null;
}

/** A reversal of a settlement. */
export interface Reversal {
  /** `rev_` and a ULID. */
  readonly id: string;
  /** `stl_` and a ULID. */
  readonly settlement_id: string;
  /** The client's reference for the reversal. */
  readonly reference: string | null;
  /** The reversal's state. */
  readonly status: ReversalStatus;
  /** ISO 20022 status. */
  readonly iso_status: IsoStatus;
  /** The amount given back. */
  readonly amount: Amount;
  /** The amount in minor units, an integer as a string. */
  readonly amount_minor: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** The client's reason. */
  readonly reason: ReversalReason | null;
  /** The client's description. */
  readonly description: string | null;
  /** The rail's own reference. */
  readonly rail_reference: string | null;
  /** Why it failed; null if it did not. */
  readonly failure: Failure | null;
  /** Whether a person must look at it. */
  readonly needs_review: boolean;
  /** When it was created, RFC 3339. */
  readonly created_at: Timestamp;
  /** When it last changed, RFC 3339. */
  readonly updated_at: Timestamp;
  /** When it became final, RFC 3339. */
  readonly completed_at: Timestamp | null;
}

/** The response to a reverse call: the reversal (null if the settlement was cancelled instead) and the settlement. */
export interface ReverseResult {
  /** The reversal. */
  readonly reversal: Reversal | null;
  /** The settlement after the call. */
  readonly settlement: Settlement;
}

/** A client's balance in one currency. */
export interface Balance {
  /** The account's name: `main`. */
  readonly account: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** Whether this is play money. */
  readonly sandbox: boolean;
  /** The amount that can be spent without credit. It may fall to `credit` below zero. */
  readonly available: Amount;
  /** The credit that was granted: how far below zero `available` may fall. Zero if there is none, as always in the sandbox. */
  readonly credit: Amount;
  /** The amount held by settlements in flight. */
  readonly reserved: Amount;
  /** The amount announced by reversals in flight. */
  readonly pending: Amount;
  /** The book balance: available plus reserved. */
  readonly ledger: Amount;
  /** When the balance was read, RFC 3339. */
  readonly as_of: Timestamp;
}

/** Real money that an operator of the gateway credited or debited, or a change of credit, as the client sees it. */
export interface BalanceMovement {
  /** `deposit`, `withdrawal` or `credit_line`. */
  readonly kind: MovementKind;
  /** The operator's reference, unique for each client. The line of the statement has it too; a change of credit has no line. */
  readonly reference: string;
  /** How much, more than zero; of a credit line, how far below zero `available` may fall from then on, or zero. */
  readonly amount: Amount;
  /** The credit before; present for a credit line. */
  readonly previous?: Amount;
  /** ISO 4217 code. */
  readonly currency: string;
  /** When it was made, RFC 3339. */
  readonly at: Timestamp;
}

/** The smallest and the largest payment in one currency. */
export interface AmountLimits {
  /** The smallest payment. */
  readonly min: Amount;
  /** The largest payment; null if there is no limit. */
  readonly max: Amount | null;
}

/** A flat part and a percentage from some amount on, for the whole payment. */
export interface FeeTier {
  /** The smallest payment of the tier. */
  readonly from: Amount;
  /** An amount for each payment. */
  readonly flat: Amount;
  /** Hundredths of the payment's amount. */
  readonly percent: Amount;
}

/** A fee: a flat part and a percentage of the amount, each rounded up, within bounds. Amounts are in units of the payment's currency. */
export interface FeeRule {
  /** Only for this currency; null for all. */
  readonly currency: string | null;
  /** Only for this kind of participant; null for all. */
  readonly namespace: string | null;
  /** An amount for each payment. */
  readonly flat: Amount;
  /** Hundredths of the payment's amount. */
  readonly percent: Amount;
  /** The smallest fee. */
  readonly min: Amount;
  /** The largest fee; null if there is no limit. */
  readonly max: Amount | null;
  /** In rising order of `from`; the last whose `from` the payment reaches replaces `flat` and `percent`. */
  readonly tiers: readonly FeeTier[];
  /** What completed reversals give back of it. An older gateway does not say it, and gives back nothing. */
  readonly refund: FeeRefund;
}

/** What a provider supports. */
export interface Capabilities {
  /** It can identify the payee before a payment. */
  readonly check_payee: boolean;
  /** It can reverse a payment. */
  readonly reverse: boolean;
  /** It can reverse a part of a payment. */
  readonly partial_reverse: boolean;
  /** It can be asked for the outcome of a payment, and its "not found" is authoritative. */
  readonly inquiry: boolean;
  /** It treats a repeated request with the same key as one request. */
  readonly idempotent_submit: boolean;
}

/** An operator that payments can go to: what it takes, what it charges, and how it is. */
export interface Provider {
  /** Its id, which a create can name as `provider`. */
  readonly id: string;
  /** Its name, for people. */
  readonly name: string;
  /** The protocol that it speaks. */
  readonly rail: string;
  /** Whether it is of the sandbox: no real money moves. */
  readonly sandbox: boolean;
  /** The kinds of participant that it reaches; null for all. */
  readonly namespaces: readonly string[] | null;
  /** The currencies that it settles, ISO 4217; null for all. */
  readonly currencies: readonly string[] | null;
  /** The countries that it reaches, ISO 3166-1 alpha-2, for people; empty if it does not say. */
  readonly countries: readonly string[];
  /** Smallest and largest payments, by currency. A currency that is not listed has no limits. */
  readonly limits: Readonly<Record<string, AmountLimits>>;
  /** What it charges. The rule that fits best applies: of both currency and namespace, then of the currency, then of the namespace. */
  readonly fees: readonly FeeRule[];
  /** What it supports. */
  readonly capabilities: Capabilities;
  /** How it is, as seen by the server that answers. */
  readonly status: Health;
  /** The share of the last minute's payments and reversals to which it gave an answer, 0 to 1; null if there were none. */
  readonly success_rate: number | null;
  /**
   * The time within which 95 % of its answers came in the last minute, in milliseconds, at most a quarter too high; null if there
   * were none.
   */
  readonly p95_ms: number | null;
  /** When these figures last changed, RFC 3339; null if nothing was sent to it yet. */
  readonly updated_at: Timestamp | null;
}

/** A provider on the route of a payment. */
export interface RouteStep {
  /** The provider's id. */
  readonly provider: string;
  /** Whether it takes the payment. */
  readonly verdict: Verdict;
  /** Why it does not take it. */
  readonly why: RouteRefusal | null;
  /** What it charges, if it takes the payment. */
  readonly fee: Amount | null;
  /** How it is. One that is `down` takes the payment only if no other does; the payment then waits for it. */
  readonly health: Health;
}

/** What a settlement would cost, and until when this is guaranteed. */
export interface Quote {
  /** The fee, charged in addition to the amount. */
  readonly fee: Amount;
  /** What reversals would give back of the fee. An older gateway does not say it, and gives back nothing. */
  readonly fee_refund: FeeRefund;
  /** Amount plus fee. */
  readonly total_debit: Amount;
  /** The provider that would be tried first. */
  readonly provider: string;
  /** When the quote expires, RFC 3339. */
  readonly expires_at: Timestamp;
  /** Send it as `quote_id` in the create to get this fee. */
  readonly quote_id: string;
}

/** The response to a pre-flight check. */
export interface CheckResult {
  /** Whether a create with this body would be accepted now. */
  readonly ok: boolean;
  /** Why it would be refused. */
  readonly problems: readonly FieldProblem[];
  /** What to review before paying. */
  readonly warnings: readonly FieldProblem[];
  /** What the settlement would cost. */
  readonly quote: Quote | null;
  /** The providers in the order in which they would be tried, and why some would not be. */
  readonly route: readonly RouteStep[];
  /** What the provider reports about the payee. */
  readonly payee: Payee;
  /** Whether the account has sufficient funds. To a phone, `false` also if its user's limits refuse the payment. */
  readonly funds_available: boolean;
}

/** A disagreement. */
export interface Finding {
  /** Stable code. */
  readonly code: string;
  /** One sentence for people. */
  readonly message: string;
}

/** The response to a reconciling check: do record, ledger, event trace and rail agree? */
export interface ReconcileResult {
  /** Whether they all agree. */
  readonly consistent: boolean;
  /** Where they disagree, or could not be compared. */
  readonly findings: readonly Finding[];
  /** The settlement after the rail was asked. */
  readonly settlement: Settlement;
}

/** A scenario of the simulator. */
export interface Scenario {
  /** Send it as `to` in a create. */
  readonly to: string;
  /** What the simulated operator does. */
  readonly description: string;
}

/** The part of the settlement's event trace that a receipt covers. */
export interface ReceiptTrace {
  /** The sequence number of the event. */
  readonly n: number;
  /** The hash of the event, which covers all earlier ones: lower-case hex. */
  readonly head: string;
}

/** A receipt as JSON. Only `jws` is authoritative; the rest is its content, for people and simple programs. */
export interface Receipt {
  /** `rcpt_` and a ULID. */
  readonly id: string;
  /** The issuer: the gateway's public address, or `railgate` if it has none. */
  readonly issuer: string;
  /** When the event of the receipt occurred, RFC 3339. */
  readonly issued_at: Timestamp;
  /** `stl_` and a ULID. */
  readonly settlement_id: string;
  /** The client's reference. */
  readonly reference: string;
  /** Whether it is a sandbox receipt, which represents no money. */
  readonly sandbox: boolean;
  /** `completed`, `partially_reversed`, `reversed` or `returned`. */
  readonly status: SettlementStatus;
  /** The amount that the payee received. */
  readonly amount: Amount;
  /** The ISO 4217 code of the currency. */
  readonly currency: string;
  /** The fee, in addition to the amount. */
  readonly fee: Amount;
  /** The amount returned by reversals. */
  readonly reversed_amount: Amount;
  /** The payer: `cli_` and a ULID. */
  readonly from: string;
  /** The payee, masked. */
  readonly to: string;
  /** When the payment was completed, RFC 3339. */
  readonly settled_at: Timestamp;
  /** The provider that made the payment. */
  readonly provider: string;
  /** The rail's own reference. */
  readonly rail_reference: string | null;
  /** The event trace up to the event of the receipt. */
  readonly trace: ReceiptTrace;
  /** The receipt that this one replaces; null for the first. */
  readonly supersedes: string | null;
  /** The key in `/.well-known/jwks.json` that signed it. */
  readonly key_id: string;
  /** The receipt itself: a compact JWS (ES256). */
  readonly jws: string;
}

/** The content of a receipt. The names are those in the JWS; amounts are decimals with the currency's number of decimals. */
export interface ReceiptClaims {
  /** The issuer: the gateway's public address, or `railgate` if it has none. */
  readonly iss: string;
  /** The receipt's id: `rcpt_` and a ULID. */
  readonly jti: string;
  /** When the event of the receipt occurred, in seconds since the Unix epoch. */
  readonly iat: number;
  /** The settlement: `stl_` and a ULID. */
  readonly sub: string;
  /** `sandbox` or `live`. A sandbox receipt represents no money. */
  readonly env: Environment;
  /** The client's reference. */
  readonly ref: string;
  /** The amount that the payee received. */
  readonly amt: Amount;
  /** The ISO 4217 code of the currency. */
  readonly cur: string;
  /** The fee, in addition to the amount. */
  readonly fee: Amount;
  /** The payer: `cli_` and a ULID. */
  readonly from: string;
  /** The payee, masked. */
  readonly to: string;
  /** The status of the settlement: `completed`, `partially_reversed`, `reversed` or `returned`. */
  readonly status: SettlementStatus;
  /** When the payment was completed, RFC 3339. */
  readonly settled_at: Timestamp;
  /** The provider that made the payment. */
  readonly provider: string;
  /** The rail's own reference. */
  readonly rail_ref: string | null;
  /** The amount returned by reversals. */
  readonly rev: Amount;
  /** The event trace up to the event of the receipt. */
  readonly ev: ReceiptTrace;
  /** The receipt that this one replaces. */
  readonly supersedes?: string;
}

/** A key as its owner sees it. */
export interface Key {
  /** The key's RFC 7638 thumbprint (SHA-256): the `keyid` of its signatures. */
  readonly key_id: string;
  /** `ecdsa-p256-sha256` or `ed25519`. */
  readonly algorithm: KeyAlgorithm;
  /** `sandbox` or `live`. */
  readonly environment: Environment;
  /** `active`, `pending` until an operator approves, or `revoked`. */
  readonly status: KeyStatus;
  /** The owner's label for the key. */
  readonly label: string | null;
  /** The key's scopes, separated by spaces. */
  readonly scope: string;
  /** When it was created, RFC 3339. */
  readonly created_at: Timestamp;
  /** When it was revoked, RFC 3339. */
  readonly revoked_at: Timestamp | null;
}

/** A line of a statement: a posted transfer, and the balance after it. */
export interface StatementEntry {
  /** Its number in the statement, from 1; 0 for a balance brought forward. */
  readonly number: number;
  /** When it was posted, RFC 3339. */
  readonly at: Timestamp;
  /**
   * `payment`, `fee`, `fee_refund`, `reversal`, `return`, `deposit`, `withdrawal`, `funding`, or `brought_forward` for what was there
   * before.
   */
  readonly type: string;
  /** What the account gained; less than zero for what it spent. */
  readonly amount: Amount;
  /** The balance after it, as `ledger` of the balance: what is on hold still counts. */
  readonly balance: Amount;
  /** ISO 4217 code. */
  readonly currency: string;
  /** The reference of the settlement, or of the deposit or withdrawal. */
  readonly reference: string | null;
  /** The settlement that it belongs to. */
  readonly settlement_id: string | null;
  /** The settlement's description. */
  readonly description: string | null;
}

/** The proof that a settlement's last event is in the log. */
export interface ReceiptProof {
  /** `stl_` and a ULID. */
  readonly settlement_id: string;
  /** The client's reference. */
  readonly reference: string;
  /** `evt_` and a ULID. */
  readonly event_id: string;
  /** The event's place in the settlement's trace. */
  readonly sequence: number;
  /** The event's hash, lower-case hexadecimal. */
  readonly event_hash: string;
  /** The salt of the leaf, 32 bytes in lower-case hexadecimal. The leaf is SHA-256(`railgate-event-v1` ‖ 0 ‖ salt ‖ event hash). */
  readonly salt: string;
  /** The leaf's index in the tree, from 0. */
  readonly leaf_index: number;
  /** The size of the tree that the proof refers to. */
  readonly tree_size: number;
  /** The hashes from the leaf's sibling up to the root's child (RFC 6962), lower-case hexadecimal. */
  readonly path: readonly string[];
  /** The signed checkpoint of that tree (C2SP `tlog-checkpoint`). */
  readonly checkpoint: string;
  /** The whole proof as a C2SP `tlog-proof`. */
  readonly proof: string;
}

/** A webhook to create. */
export interface WebhookRequest {
  /** Where deliveries go: https to a public address, without user name, password or fragment. */
  readonly url: string;
  /** Types of event; `*` or null for all of them */
  readonly events?: readonly WebhookTopic[] | "*";
  /** The owner's description. */
  readonly description?: string;
}

/** Changes to a webhook. */
export interface WebhookPatch {
  /** Where deliveries go. */
  readonly url?: string;
  /** Types of event; `*` or null for all of them */
  readonly events?: readonly WebhookTopic[] | "*";
  /** The owner's description; null removes it. */
  readonly description?: string | null;
  /** Whether anything is delivered to it. */
  readonly enabled?: boolean;
}

/** A webhook as its owner sees it. */
export interface Webhook {
  /** `whk_` and a ULID. */
  readonly id: string;
  /** The URL that deliveries go to. */
  readonly url: string;
  /** The types of event that are delivered. */
  readonly events: readonly WebhookTopic[];
  /** Whether all types of event are delivered, including future ones. */
  readonly all_events: boolean;
  /** The owner's description. */
  readonly description: string | null;
  /** `enabled`, `disabled` by its owner, `gone` (it responded with 410), or `failing` (only failures for five days) */
  readonly status: "enabled" | "disabled" | "gone" | "failing";
  /** Since when all deliveries have failed, RFC 3339; null if the last one succeeded. */
  readonly failing_since: Timestamp | null;
  /** When it was created, RFC 3339. */
  readonly created_at: Timestamp;
  /** When it last changed, RFC 3339. */
  readonly updated_at: Timestamp;
  /** `whsec_` and base64; only in the response to the call that created it. */
  readonly secret?: string;
  /**
   * Only in the repeated response to a call with an `Idempotency-Key` that created a secret: `true`, for the first response showed
   * it. If that was lost, give the webhook a new secret.
   */
  readonly secret_shown?: boolean;
}

/** The example to send. */
export interface WebhookTestRequest {
  /** The type of event. */
  readonly type?: WebhookTopic;
}

/** The response of a receiver. */
export interface WebhookTestResponse {
  /** The status; null if there was no response. */
  readonly status: number | null;
  /** How long it took, in milliseconds. */
  readonly took_ms: number;
  /** The start of the body, as the receiver wrote it. */
  readonly excerpt: string;
  /** Why there was no response. */
  readonly error: string | null;
}

/** The result of a test. */
export interface WebhookTest {
  /** The delivery that was sent. It is not tried again. */
  readonly delivery: Delivery;
  /** Whether the receiver accepted it with a 2xx response. */
  readonly delivered: boolean;
  /** The receiver's response. */
  readonly response: WebhookTestResponse;
}

/** How a secret is rotated. */
export interface SecretRotation {
  /** How many seconds the old secret also signs; default: one day. */
  readonly grace?: number;
}

/** The result of a try at a delivery. */
export interface DeliveryAttempt {
  /** When it started, RFC 3339. */
  readonly at: Timestamp;
  /** How long it took, in milliseconds. */
  readonly took_ms: number;
  /** The status of the receiver's response; null if there was none. */
  readonly status: number | null;
  /** Why there was no response. */
  readonly error: string | null;
  /** The start of the response body, as the receiver wrote it. */
  readonly response_excerpt: string;
}

/** A delivery as its owner sees it. */
export interface Delivery {
  /** `dlv_` and a ULID. */
  readonly id: string;
  /** The `webhook-id` header: the event's id, the same on each try. */
  readonly message_id: string;
  /** The type of the event. */
  readonly type: WebhookTopic;
  /** Why the delivery was created. */
  readonly cause: DeliveryCause;
  /** The delivery's state. */
  readonly status: DeliveryStatus;
  /** How many times it was tried. */
  readonly attempts: number;
  /** When it will be tried next, RFC 3339; null if it will not. */
  readonly next_attempt_at: Timestamp | null;
  /** The result of the last try; null before the first. */
  readonly last_attempt: DeliveryAttempt | null;
  /** When it was created, RFC 3339. */
  readonly created_at: Timestamp;
  /** The body that is sent. */
  readonly payload: JsonObject;
}

/** The events to deliver again. */
export interface ReplayRequest {
  /** RFC 3339, inclusive. */
  readonly since: TimeInput;
  /** RFC 3339, exclusive; default: everything there is. */
  readonly until?: TimeInput;
  /** `next_after` of the previous response, to continue from there. */
  readonly after?: number;
}

/** The result of a replay. */
export interface Replay {
  /** How many deliveries were queued. */
  readonly queued: number;
  /**
   * Set if there are more events than one call handles: send the same request again with this
   * as `after`. Null when all are queued.
   */
  readonly next_after: number | null;
}
