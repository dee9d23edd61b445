/**
 * Every call of the HTTP interface, by path and method, and the types that only operators meet.
 *
 * Generated from the server's OpenAPI document by `RAILGATE_BLESS=1 cargo test -p railgate-wasm --test types`.
 *
 * @module
 */

import type {
  AdvanceRequest,
  AnswerKind,
  ApprovalStatus,
  AttemptStatus,
  AttestationFormat,
  AttestationLevel,
  Balance,
  BalanceMovement,
  BundleStatus,
  BundleStepKind,
  CheckResult,
  Clock,
  ClockChange,
  ConformanceStatus,
  CreateRequest,
  Delivery,
  DeliveryStatus,
  Direction,
  Environment,
  FailureCode,
  Faults,
  FaultsRequest,
  FeedPage,
  FieldProblem,
  FindingKind,
  FundRequest,
  Health,
  Key,
  MatchedBy,
  MovementKind,
  Network,
  NotificationKind,
  OperatorAct,
  OperatorRole,
  OperatorStatus,
  Page,
  PlaceState,
  Provider,
  QualityUnit,
  Receipt,
  ReceiptProof,
  ReconcileResult,
  ReconciliationStatus,
  Replay,
  ReplayRequest,
  ResetRequest,
  ResetResult,
  Reversal,
  ReverseRequest,
  ReverseResult,
  ReviewReason,
  RouteStep,
  Scenario,
  SecretRotation,
  Settlement,
  SettlementEvent,
  SettlementStatus,
  StateName,
  StatementEntry,
  StatementFormat,
  StatusView,
  TransferCode,
  TransferKind,
  UserStatus,
  Webhook,
  WebhookPatch,
  WebhookRequest,
  WebhookTest,
  WebhookTestRequest,
} from "./types.js";
import type {
  Amount,
  AmountInput,
  BatchResult,
  Json,
  PublicJwk,
  TimeInput,
  Timestamp,
} from "./values.js";

/** What an operator asked for. */
export interface Approval {
  /** What was asked for. */
  readonly act: OperatorAct;
  /** When, RFC 3339. */
  readonly asked_at: Timestamp;
  /** The operator who asked. */
  readonly asked_by: string;
  /** The client concerned. */
  readonly client_id?: string | null;
  /** What the decider said. */
  readonly comment?: string | null;
  /** When, RFC 3339. */
  readonly decided_at?: Timestamp | null;
  /** The operator who decided. */
  readonly decided_by?: string | null;
  /** When it expires unless somebody decides before, RFC 3339. */
  readonly expires_at: Timestamp;
  /** `apr_` and a ULID. */
  readonly id: string;
  /** Why it was asked for. */
  readonly reason?: string | null;
  /** The body of the call. Of secrets it has the names, and `hidden` for each value; secrets that it does not name are removed. */
  readonly request: Json;
  /** Whether it waits, or how it was decided. */
  readonly status: ApprovalStatus;
  /** What it is about: the client, provider or settlement, as the call named it. */
  readonly subject: string;
}

/** The approval of a bundle. */
export interface ApproveBundleRequest {
  /** 1 to 2,000 characters. */
  readonly comment: string;
  /** The `digest` of the revision that was reviewed: so the call's signature covers it. */
  readonly digest: string;
}

/** A client whose live keys are approved. */
export interface ApproveClientRequest {
  /** The thumbprint of the key to approve; required if several wait. */
  readonly key?: string | null;
  /** Why, for the audit trail. */
  readonly reason: string;
}

/** The answer to an act that a second operator has to confirm, and to a decision about it. */
export interface Asked {
  /** What was asked for. */
  readonly approval: Approval;
}

/** What the maker of a device says about its key, bound to the code: see the documentation of the mobile API. */
export interface AttestationRequest {
  /** Of `android-key`: the certificates in base64 (DER), the key's first. */
  readonly chain?: readonly string[] | null;
  /** `android-key` or `apple-app-attest`. */
  readonly format: string;
  /** Of `apple-app-attest`: the attestation object in base64 (CBOR). */
  readonly object?: string | null;
}

/** Something that somebody did or tried to do. */
export interface Audit {
  /** What was done. */
  readonly action: string;
  /** When, RFC 3339. */
  readonly at: Timestamp;
  /** Who acted: a `client`, or an `operator`. */
  readonly by: string;
  /** The client that acted, or that was acted on. */
  readonly client_id?: string | null;
  /** What was decided and why. */
  readonly detail?: Json;
  /** The key that signed. */
  readonly key_id?: string | null;
  /** Its number, which grows with time. */
  readonly no: number;
  /** The operator who acted; null for a client, and for what was done on the store itself. */
  readonly operator_id?: string | null;
  /** `done`, or the code of the refusal. */
  readonly outcome: string;
  /** What signed the call: the `key` itself, or a `session`; null if nothing did, and of older calls. */
  readonly signed_by?: string | null;
  /** What it was done to. */
  readonly target?: string | null;
}

/** The response to a batch. */
export interface Batch {
  /** One result for each element, in the same order. */
  readonly results: readonly BatchResult[];
}

/** A bundle, as JSON. */
export interface BundleRequest {
  /** Documents for the reviewers, at most 20. */
  readonly documents?: readonly DocumentRequest[] | null;
  /** What the provider is. `GET /api/v1/bundles/schema` has its JSON Schema. */
  readonly manifest: ManifestRequest;
  /** Secrets of its endpoints. They are sealed and never shown again; left out, those that it has stay. */
  readonly secrets?: BundleSecretsRequest | null;
}

/** A place at which two revisions differ. */
export interface BundleChange {
  /** What is there; missing if nothing is. */
  readonly after?: Json;
  /** What was there; missing if nothing was. Of a document, its SHA-256. */
  readonly before?: Json;
  /** An RFC 6901 pointer into the bundle. */
  readonly pointer: string;
}

/** A comment on a bundle. */
export interface BundleCommentRequest {
  /** 1 to 2,000 characters. */
  readonly comment: string;
  /** The place that it is about: an RFC 6901 pointer into the bundle. */
  readonly pointer?: string | null;
}

/** How two revisions differ. */
export interface BundleDiff {
  /** Each place that differs. */
  readonly changes: readonly BundleChange[];
  /** The earlier revision. */
  readonly from: Amount;
  /** The later revision. */
  readonly to: number;
}

/** Something that reviewers should know; it refuses nothing. */
export interface BundleFinding {
  /** Stable code: `id_taken`, `serves_the_same`, `route_overlap`, `first_route`. */
  readonly code: string;
  /** One sentence for people. */
  readonly message: string;
  /** The place in the bundle that it is about. */
  readonly pointer: string;
}

/** Secrets of a provider's endpoints, by name. */
export interface BundleSecretsRequest {
  /** Those of the endpoint for real money. */
  readonly live?: SecretTexts | null;
  /** Those of the endpoint for tests. */
  readonly sandbox?: SecretTexts | null;
}

/** The names of a bundle's secrets. */
export interface BundleSecrets {
  /** Those of the endpoint for real money. */
  readonly live: readonly string[];
  /** Those of the endpoint for tests. */
  readonly sandbox: readonly string[];
}

/** A signature for a revision. */
export interface BundleSignature {
  /** When, RFC 3339. */
  readonly at: Timestamp;
  /** The partner's or the operator's id. */
  readonly by: string;
  /** The digest of the revision. */
  readonly digest: string;
  /** The thumbprint of the key (RFC 7638). */
  readonly key_id?: string | null;
  /** `partner` or `reviewer`. */
  readonly role: string;
}

/** A step of a bundle's timeline. */
export interface BundleStep {
  /** When it happened, RFC 3339. */
  readonly at: Timestamp;
  /** The partner's id, an operator's, or null for the gateway itself. */
  readonly by?: string | null;
  /** What was said. */
  readonly comment?: string | null;
  /** Further details, such as `pointer`, `digest`, `mode`, `findings`; of a test, `status` and the number of `failed` checks. */
  readonly data?: Json;
  /** The state before. */
  readonly from: BundleStatus;
  /** The thumbprint of the key that signed. */
  readonly key_id?: string | null;
  /** The revision that it is about. */
  readonly revision: number;
  /** Its number on the timeline, from 1, without gaps. */
  readonly sequence: number;
  /** The state after. */
  readonly to: BundleStatus;
  /** What it is about. */
  readonly type: BundleStepKind;
}

/** A bundle in a list. */
export interface BundleSummary {
  /** The partner. */
  readonly client_id: string;
  /** How the test of its sandbox endpoint is; null before the first. */
  readonly conformance?: ConformanceStatus | null;
  /** When it was made, RFC 3339. */
  readonly created_at: Timestamp;
  /** The digest of that revision: SHA-256 over the lines that `sha256sum` prints of its manifest and its documents, by name. */
  readonly digest: string;
  /** `bun_` and a ULID. */
  readonly id: string;
  /** The mode of the credential that made it. Only one that was made with a live credential is published live. */
  readonly mode: Environment;
  /** The id in its manifest. */
  readonly provider: string;
  /** Where its provider was made. */
  readonly published: Published;
  /** Where it is published once a test has passed; null if nobody asked for that. */
  readonly publishing?: Environment | null;
  /** The version in its manifest. */
  readonly release: string;
  /** The number of the last revision, from 1. */
  readonly revision: number;
  /** The current state. */
  readonly status: BundleStatus;
  /** When it last changed, RFC 3339. */
  readonly updated_at: Timestamp;
  /** The version of the bundle, which is its `ETag`. */
  readonly version: number;
}

/** A page of a timeline. */
export interface BundleTimeline {
  /** Oldest first. */
  readonly data: readonly BundleStep[];
  /** Whether there are more. */
  readonly has_more: boolean;
}

/** A bundle. */
export interface Bundle extends BundleSummary {
  /** The documents of the last revision. */
  readonly documents: readonly Document[];
  /** What the gateway found when it was submitted last. */
  readonly findings: readonly BundleFinding[];
  /** The manifest of the last revision, as it was sent. */
  readonly manifest: ManifestRequest;
  /** The names of its secrets. */
  readonly secrets: BundleSecrets;
  /** Who signed for the last revision: its partner, and who approved it. */
  readonly signatures: readonly BundleSignature[];
}

/** The answer to a request of a test. */
export interface CameReport {
  /** The body, as far as it is text. */
  readonly body: string;
  /** The status. */
  readonly status: number;
}

/** What a provider said about an attempt or a reversal when it was asked. */
export interface CaseAnswer {
  /** What it said. */
  readonly answer: AnswerKind;
  /** The number of the attempt, if it is about one. */
  readonly attempt?: number | null;
  /** Why it declined. */
  readonly code?: FailureCode | null;
  /** Its own code. */
  readonly rail_code?: string | null;
  /** Its reference for the payment. */
  readonly rail_reference?: string | null;
  /** The number of the reversal, if it is about one. */
  readonly reversal?: number | null;
}

/** An attempt at a provider. */
export interface CaseAttempt {
  /** When the last answer that changed it arrived, RFC 3339. */
  readonly answered_at?: Timestamp | null;
  /** Its number, from 1. */
  readonly attempt: number;
  /** The provider. */
  readonly provider: string;
  /** How often it was sent, always under the same key. */
  readonly sends: number;
  /** When it was last sent, RFC 3339. */
  readonly started_at: Timestamp;
  /** Its status. */
  readonly status: AttemptStatus;
}

/** A transfer between two accounts. */
export interface CaseTransfer {
  /** How much. */
  readonly amount: string;
  /** When, RFC 3339. */
  readonly at: Timestamp;
  /** What for. */
  readonly code: TransferCode;
  /** Whose account is credited. */
  readonly credit: string;
  /** Whose account is debited. */
  readonly debit: string;
  /** Whether it holds, posts, or releases money. */
  readonly kind: TransferKind;
  /** The transfer that it ends; null if it ends none. */
  readonly resolves?: number | null;
  /** Its number, from 1. */
  readonly transfer: number;
}

/** Everything that is known about a settlement, for a person who decides about it. */
export interface Case {
  /** What the provider said just now; absent if it was not asked. */
  readonly asked?: readonly CaseAnswer[] | null;
  /** Its attempts. */
  readonly attempts: readonly CaseAttempt[];
  /** Its whole trace. */
  readonly events: readonly SettlementEvent[];
  /** What reconciliations with the provider's statements found about it. */
  readonly findings: readonly StatementFinding[];
  /** Its reversals. */
  readonly reversals: readonly Reversal[];
  /** The settlement as its owner sees it. */
  readonly settlement: Settlement;
  /** Its transfers in the ledger. */
  readonly transfers: readonly CaseTransfer[];
  /** What waits for a person: the settlement itself, reversals, or nothing. */
  readonly waiting: readonly Review[];
}

/** The state of what operators see. */
export interface Changes {
  /** How many events the log has, of all clients. */
  readonly events: number;
  /** Another number after every change; it says nothing else. */
  readonly mark: number;
}

/** Where a kind of notification is shown. */
export interface ChannelsRequest {
  /** In the inbox. Default: true. */
  readonly inbox?: boolean | null;
  /** As a push. Default: true. */
  readonly push?: boolean | null;
}

/** Where a kind of notification is shown. */
export interface Channels {
  /** In the inbox. */
  readonly inbox: boolean;
  /** As a push. */
  readonly push: boolean;
}

/** A check of a test. */
export interface CheckReport {
  /** What was checked. */
  readonly check: string;
  /** What was sent and what came, in order; long texts are cut off. */
  readonly exchanges: readonly ExchangeReport[];
  /** What was expected. */
  readonly expected: string;
  /** `passed`, `failed`, `advice` (it may stay, but would be better otherwise) or `skipped`. */
  readonly result: string;
  /** Where the protocol says so. */
  readonly says: string;
  /** Why, unless it passed. */
  readonly why?: string | null;
}

/** A provider in a route. */
export interface ChoiceRequest {
  /** Its id. */
  readonly id: string;
  /** The lowest is tried first. */
  readonly priority: number;
  /** Its share among those of the same priority; default: 1. */
  readonly weight?: number | null;
}

/** Everything about a client. */
export interface ClientDetail extends Client {
  /** Its balances, live and of the sandbox. */
  readonly balances: readonly Balance[];
  /** Its keys, oldest first. */
  readonly keys: readonly Key[];
  /** Where it is, if it moves to another gateway or came from one. */
  readonly place?: ClientPlace | null;
  /** What is agreed with it. */
  readonly terms: TermsRequest;
  /** The version of the configuration that changed the terms last; 0 if nothing was ever agreed. */
  readonly terms_version: number;
}

/** The limits of a client's payments in one mode and currency: amounts without fees, in units of the currency. A day is UTC. */
export interface ClientLimitRequest {
  /** ISO 4217 code. */
  readonly currency: string;
  /** The most payments of a day. */
  readonly daily_count?: number | null;
  /** The most that the payments of a day add up to. */
  readonly daily_value?: PositiveAmountInput | null;
  /** The largest payment. */
  readonly max?: PositiveAmountInput | null;
  /** The smallest payment. */
  readonly min?: PositiveAmountInput | null;
  /** `sandbox` or `live`. */
  readonly mode: string;
}

/** Where a client is. */
export interface ClientPlace {
  /** The identity of the other gateway's store: 16 hexadecimal digits. */
  readonly gateway: string;
  /** Why, as the operator said. */
  readonly reason?: string | null;
  /** Since when, RFC 3339. */
  readonly since: Timestamp;
  /** `leaving`, `moved`, `stayed`, `arriving` or `arrived`. */
  readonly state: PlaceState;
  /** The address of the other gateway. */
  readonly url: string;
}

/** A client, as operators see it. */
export interface Client {
  /** `cli_` and a ULID. */
  readonly client_id: string;
  /** When it enrolled, RFC 3339. */
  readonly created_at: Timestamp;
  /** How many active live keys it has. */
  readonly live_keys: number;
  /** The name given when it enrolled. */
  readonly name: string;
  /** How many of its keys await approval. */
  readonly pending_keys: number;
  /** How many active keys of the sandbox it has. */
  readonly sandbox_keys: number;
  /** Whether it may not call. */
  readonly suspended: boolean;
}

/** What somebody says who decides about what another one asked for. */
export interface CommentRequest {
  /** 1 to 500 printable characters. */
  readonly comment?: string | null;
}

/** The report of a test of a bundle's sandbox endpoint. */
export interface ConformanceReport {
  /** The endpoint. */
  readonly base_url: string;
  /** The checks, in order. */
  readonly checks: readonly CheckReport[];
  /** How many checks failed. */
  readonly failed: number;
  /** Whether no check failed. */
  readonly ok: boolean;
  /** How long it took, in milliseconds. */
  readonly took_ms: number;
}

/** The last test of a bundle. */
export interface Conformance {
  /** When it was reported, RFC 3339. */
  readonly at?: Timestamp | null;
  /** The report of the last test that ended. */
  readonly report?: ConformanceReport | null;
  /** The revision that the report is about. */
  readonly revision?: number | null;
  /** How the test is; null before the first. */
  readonly status?: ConformanceStatus | null;
}

/** Somebody who answers questions. */
export interface ContactRequest {
  /** An address. */
  readonly email: string;
  /** A name. */
  readonly name?: string | null;
  /** `technical`, `operations` or `compliance`. */
  readonly role: string;
}

/** Several settlements to create. */
export interface CreateBatchRequest {
  /** 1 to 1,000. */
  readonly settlements: readonly CreateRequest[];
}

/** What the user decided about a payment, and what the app had shown. */
export interface DecisionRequest {
  /** `approve` or `decline`. */
  readonly decision: string;
  /** Why the user declined: 1 to 500 printable characters. */
  readonly reason?: string | null;
  /** What the app showed. */
  readonly shown: ShownRequest;
}

/** What the maker of a device says about its key. */
export interface DeviceAttestation {
  /** Who vouches for it. */
  readonly format: AttestationFormat;
  /** Where the key lives, as was verified; null if it was not. */
  readonly level?: AttestationLevel | null;
  /** Why it was not verified; null if it was. */
  readonly problem?: string | null;
}

/** A new name for a device. */
export interface DeviceRequest {
  /** 1 to 100 printable characters. */
  readonly name: string;
}

/** A code for a device of an end user. The user is added when first named. */
export interface DeviceCodeRequest {
  /** What the user may pay: replaces what there was. One entry for each currency. */
  readonly limits?: readonly UserLimitsRequest[] | null;
  /** The address that opens the app, with `{code}` where the code goes. Default: `railgate:enroll?…`. */
  readonly link?: string | null;
  /** The client's own name for the user: 1 to 64 printable ASCII characters without spaces. */
  readonly user: string;
}

/** A code with which one device of an end user enrols. */
export interface DeviceCode {
  /** The code, for people to type: four groups of four. It is not shown again. */
  readonly code?: string | null;
  /** Whether the answer to an earlier call with this `Idempotency-Key` showed the code. */
  readonly code_shown?: boolean;
  /** When the code expires, RFC 3339. */
  readonly expires_at: Timestamp;
  /** For how long the code is valid, in seconds. */
  readonly expires_in: number;
  /** The address that opens the app with the code. It is not shown again. */
  readonly link?: string | null;
  /** The same address as a QR code: an SVG image. It is not shown again. */
  readonly qr?: string | null;
  /** The client's own name for the user. */
  readonly user: string;
}

/** A device of an end user, with the code that the client made for it. */
export interface DeviceEnrollRequest {
  /** The version of the app. */
  readonly app_version?: string | null;
  /** What the maker of the device says about the key. */
  readonly attestation?: AttestationRequest | null;
  /** The code. Upper or lower case, with or without hyphens and spaces; `O` counts as 0, `I` and `L` as 1. */
  readonly code: string;
  /** The device's public key, which signs the call. */
  readonly jwk: PublicJwk;
  /** The model of the device. */
  readonly model?: string | null;
  /** What its owner calls it. */
  readonly name?: string | null;
  /** The platform, such as `android` or `ios`: 1 to 40 printable characters. */
  readonly platform: string;
}

/** A device that enrolled, with its first access token. */
export interface DeviceEnrollment extends Token {
  /** `cli_` and a ULID: the client whose user it is. */
  readonly client_id: string;
  /** The device. */
  readonly device: Device;
  /** `sandbox` or `live`. */
  readonly environment: Environment;
}

/** A device of an end user. */
export interface Device {
  /** The version of the app that enrolled. */
  readonly app_version?: string | null;
  /** What its maker says about its key; absent if the app showed nothing. */
  readonly attestation?: DeviceAttestation | null;
  /** When it enrolled, RFC 3339. */
  readonly created_at: Timestamp;
  /** `dev_` and a ULID. */
  readonly id: string;
  /** The key's RFC 7638 thumbprint: the `keyid` of its signatures. */
  readonly key_id: string;
  /** The model. */
  readonly model?: string | null;
  /** What its owner calls it. */
  readonly name?: string | null;
  /** The platform, as the app names it. */
  readonly platform: string;
  /** When it was revoked, RFC 3339; null while it may call. */
  readonly revoked_at?: Timestamp | null;
  /** The client's own name for the user. */
  readonly user: string;
}

/** A document for the reviewers. */
export interface DocumentRequest {
  /** The content, in base64. */
  readonly content: string;
  /** The name of the file; its ending says what it is: pdf, png, jpg, txt, md, csv or json. */
  readonly name: string;
}

/** A document of a bundle. */
export interface Document {
  /** Its size in bytes. */
  readonly bytes: number;
  /** Its type, from the ending of the name. */
  readonly media_type: string;
  /** The name of the file. */
  readonly name: string;
  /** SHA-256 of its content, in hexadecimal digits. */
  readonly sha256: string;
}

/** A request of a test, and what came. */
export interface ExchangeReport {
  /** The body that was sent. */
  readonly body: string;
  /** What came; null if nothing did. */
  readonly came?: CameReport | null;
  /** The method. */
  readonly method: string;
  /** How long it took, in milliseconds. */
  readonly took_ms: number;
  /** The URL. */
  readonly url: string;
}

/** Where a payment would go. */
export interface Explain {
  /** Each provider, in or out, and why. */
  readonly route: readonly RouteStep[];
}

/** A fee: a flat part and a percentage, within bounds. Amounts are in units of the payment's currency. */
export interface FeeRequest {
  /** Only for this currency. */
  readonly currency?: string | null;
  /** An amount for each payment. */
  readonly flat?: AmountInput | null;
  /** The largest fee. */
  readonly max?: AmountInput | null;
  /** The smallest fee. */
  readonly min?: AmountInput | null;
  /** Only for this kind of participant. */
  readonly namespace?: string | null;
  /** Hundredths of the payment's amount. */
  readonly percent?: AmountInput | null;
  /**
   * What completed reversals give back of it: `none` (default), `proportional` to the reversed part, or `full` once the whole
   * payment is reversed.
   */
  readonly refund?: string | null;
  /** In rising order of `from`; the last whose `from` the payment reaches replaces `flat` and `percent`. */
  readonly tiers?: readonly FeeTierRequest[] | null;
}

/** A flat part and a percentage from some amount on, for the whole payment. */
export interface FeeTierRequest {
  /** An amount for each payment. */
  readonly flat?: AmountInput | null;
  /** The smallest payment of the tier. */
  readonly from: AmountInput;
  /** Hundredths of the payment's amount. */
  readonly percent?: AmountInput | null;
}

/** The payments of one provider in one currency. Amounts of different currencies are never added up. */
export interface Figure {
  /** How many were cancelled. */
  readonly cancelled: number;
  /** How many were accepted. */
  readonly count: number;
  /** ISO 4217 code. */
  readonly currency: string;
  /** How many failed. */
  readonly failed: number;
  /** How many are not final. */
  readonly open: number;
  /** Half of those that succeeded took at most so many milliseconds. */
  readonly p50_ms?: number | null;
  /** 95 of 100 that succeeded took at most so many milliseconds. */
  readonly p95_ms?: number | null;
  /** The provider that has them, or had them last. */
  readonly provider: string;
  /** Whether it is the sandbox. */
  readonly sandbox: boolean;
  /** How many were carried out, reversed later or not. */
  readonly succeeded: number;
  /** What those add up to. */
  readonly succeeded_value: Amount;
  /** Of those that succeeded or failed, the share that succeeded, from 0 to 1; null if there are none. */
  readonly success_rate?: number | null;
  /** What they add up to, whatever became of them. */
  readonly value: Amount;
}

/** Which acts a second operator has to confirm. */
export interface FourEyes {
  /** Live access of a client. */
  readonly access: boolean;
  /** Live money in or out of a client's account, and its credit. */
  readonly money: boolean;
  /** The outcome of a payment or reversal, from `outcome_from` on. */
  readonly outcome: boolean;
  /** The smallest amount whose outcome needs a second operator, in units of its currency. */
  readonly outcome_from: number;
  /** A new or changed live provider, and enabling one. */
  readonly provider: boolean;
  /** The table of routes. */
  readonly routes: boolean;
  /** Limits and fees of a client. */
  readonly terms: boolean;
}

/** Bounds of a payment, in units of its currency. */
export interface LimitRequest {
  /** The largest payment; default: no limit. */
  readonly max?: PositiveAmountInput | null;
  /** The smallest payment; default: the smallest unit of the currency. */
  readonly min?: PositiveAmountInput | null;
}

/** An endpoint for real money. */
export interface LivePlaceRequest {
  /** Its address. */
  readonly base_url: string;
  /** Settings that differ from the general ones. */
  readonly settings?: Readonly<Record<string, string>> | null;
}

/** A provider, as its partner describes it. */
export interface ManifestRequest {
  /** What it promises to do; must agree with its settings. */
  readonly capabilities?: PromisedRequest | null;
  /** Who answers questions. */
  readonly contacts: readonly ContactRequest[];
  /** The countries that it reaches, ISO 3166-1 alpha-2. */
  readonly countries?: readonly string[] | null;
  /** The currencies that it settles, ISO 4217. */
  readonly currencies: readonly string[];
  /** What it charges. */
  readonly fees?: readonly FeeRequest[] | null;
  /** The id of the provider, once it is published live; `<id>-sandbox` in the sandbox. */
  readonly id: string;
  /** Smallest and largest payments, by currency. */
  readonly limits?: Readonly<Record<string, LimitRequest>> | null;
  /** Its endpoint for real money. Without it, the bundle can only be published in the sandbox. */
  readonly live?: LivePlaceRequest | null;
  /** A name for people. */
  readonly name: string;
  /** The kinds of participant that it reaches. */
  readonly namespaces: readonly string[];
  /** The protocol that it speaks: `adapter` or `gsma`. */
  readonly rail: string;
  /** The payments that it would like to get. */
  readonly routes?: readonly WishRequest[] | null;
  /** Its endpoint for tests, where no real money moves. */
  readonly sandbox: SandboxPlaceRequest;
  /** Settings of its rail. */
  readonly settings?: Readonly<Record<string, string>> | null;
  /** How long calls to it may take. */
  readonly timeouts?: TimeoutsRequest | null;
  /** The version of this description. */
  readonly version: string;
}

/** How many lines match, by what connects them to a settlement. */
export interface Matched {
  /** Amount, date and, where the statement has one, the participant. */
  readonly amount: Amount;
  /** The key under which the gateway sent it. */
  readonly rail_key: number;
  /** The provider's own reference. */
  readonly rail_reference: number;
}

/** Real money that a client paid in, or was paid out. */
export interface MoveMoneyRequest {
  /** More than zero. */
  readonly amount: PositiveAmountInput;
  /** ISO 4217 code. */
  readonly currency: string;
  /** What proves it, such as the line of a bank statement. */
  readonly evidence: string;
  /** Why, for the audit trail. */
  readonly reason?: string | null;
  /** The operator's reference, unique for each client: a repeat changes nothing. */
  readonly reference: string;
}

/** Real money that entered or left a client's account, or a change of its credit. */
export interface Movement {
  /** How much; of a credit line, how far below zero the available money may fall from then on. */
  readonly amount: Amount;
  /** When it was made, RFC 3339. */
  readonly at: Timestamp;
  /** The client. */
  readonly client_id: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** What proves it. */
  readonly evidence: string;
  /** `deposit`, `withdrawal` or `credit_line`. */
  readonly kind: MovementKind;
  /** The credit before; present for a credit line. */
  readonly previous?: Amount | null;
  /** The operator's reference. */
  readonly reference: string;
}

/** A server. */
export interface Node {
  /** The URL of the address that it listens on; null if it listens on all addresses of its machine. */
  readonly address?: string | null;
  /** The name of its machine. */
  readonly host: string;
  /** 16 hexadecimal digits; different after each start. */
  readonly id: string;
  /** When it last said that it runs, which it does every ten seconds, RFC 3339; by its own clock. */
  readonly seen_at: Timestamp;
  /** When it started, RFC 3339. */
  readonly started_at: Timestamp;
  /** Whether that is no more than 30 seconds away from the time of the server that answers. */
  readonly up: boolean;
  /** The version of its program. */
  readonly version: string;
}

/** A notification in a user's inbox. */
export interface Notification {
  /** The amount: that of the payment, or what was given back of it, with the decimals of the currency. */
  readonly amount?: string | null;
  /** When that happened, RFC 3339. */
  readonly at: Timestamp;
  /** A sentence about it. */
  readonly body: string;
  /** ISO 4217 code. */
  readonly currency?: string | null;
  /** What the owner of the device calls it, or its model or platform. */
  readonly device?: string | null;
  /** `dev_` and a ULID: the device, if it is about one. */
  readonly device_id?: string | null;
  /** The direction of that language: `ltr` or `rtl`. */
  readonly dir: string;
  /** Until when the payment waits for approval, RFC 3339. */
  readonly expires_at?: Timestamp | null;
  /** Why the payment failed: a failure code. */
  readonly failure?: string | null;
  /** `ntf_` and a ULID. */
  readonly id: string;
  /** What it tells. */
  readonly kind: NotificationKind;
  /** The language of both, a BCP 47 tag. */
  readonly lang: string;
  /** When the user read it, RFC 3339; null if they have not. */
  readonly read_at?: Timestamp | null;
  /** The reference of the payment. */
  readonly reference?: string | null;
  /** `stl_` and a ULID: the payment, if it is about one. */
  readonly settlement_id?: string | null;
  /** What happened, in a few words. */
  readonly title: string;
  /** The payee. */
  readonly to?: string | null;
}

/** A page of a user's inbox. */
export interface Notifications {
  /** The notifications, newest first. */
  readonly data: readonly Notification[];
  /** Whether there are more. */
  readonly has_more: boolean;
  /** The `cursor` of the next page. */
  readonly next_cursor?: string | null;
  /** How many of the whole inbox are unread. */
  readonly unread_count: number;
}

/** A provider as an operator configured it, and how it is. Its secrets are never shown. */
export interface OperatedProvider {
  /** The address of its interface. */
  readonly base_url?: string | null;
  /** The countries that it reaches, ISO 3166-1 alpha-2, for people. */
  readonly countries?: readonly string[] | null;
  /** The currencies that it settles, ISO 4217; default: all. */
  readonly currencies?: readonly string[] | null;
  /** Whether it takes new payments; default: true. */
  readonly enabled?: boolean | null;
  /** What it charges. The rule that fits best applies: of both currency and namespace, then of the currency, then of the namespace. */
  readonly fees?: readonly FeeRequest[] | null;
  /** Stable id. */
  readonly id: string;
  /** Smallest and largest payments, by currency. */
  readonly limits?: Readonly<Record<string, LimitRequest>> | null;
  /** Whether it takes none for a while; default: false. */
  readonly maintenance?: boolean | null;
  /** `sandbox` or `live`, never both. */
  readonly mode: string;
  /** A name for people. */
  readonly name: string;
  /** The kinds of participant that it reaches; default: all. */
  readonly namespaces?: readonly string[] | null;
  /** Of 100 calls, 95 were answered within so many milliseconds. */
  readonly p95_ms?: number | null;
  /** The protocol that it speaks. */
  readonly rail: string;
  /** The names of its secrets. */
  readonly secret_names: readonly string[];
  /** Secrets of its rail, by name. They are never shown again; left out, those that it has stay. */
  readonly secrets?: SecretTexts | null;
  /** Settings of its rail. */
  readonly settings?: Readonly<Record<string, string>> | null;
  /** Whether it takes payments, and answers. */
  readonly status: Health;
  /** The share of calls that it answered lately, from 0 to 1; null if there were too few. */
  readonly success_rate?: number | null;
  /** How long calls to it may take. */
  readonly timeouts?: TimeoutsRequest | null;
  /** The version of the configuration that changed it last; 0 if only the program has it. */
  readonly version: number;
}

/** The table of routes. */
export interface OperatedRoutes {
  /** The entries. For a kind of participant without any, every enabled provider that serves it is tried, in order of id. */
  readonly routes: readonly RouteRequest[];
  /** Its version, which is also the `ETag`; 0 if there never was one. */
  readonly version: number;
}

/** An operator's first session. */
export interface OperatorEnrollment extends Token {
  /** The key's RFC 7638 thumbprint: the `keyid` of its signatures. */
  readonly key_id: string;
  /** The operator. */
  readonly operator: Operator;
}

/** An invited operator, with the code that is shown only once. */
export interface OperatorInvitation {
  /** With it, they enrol a key: `opi_…`. */
  readonly code?: string | null;
  /** Set if the code was shown before, in the response to the first call with the same `Idempotency-Key`. */
  readonly code_shown?: boolean;
  /** The operator. */
  readonly operator: Operator;
}

/** Somebody who is invited to be an operator. */
export interface OperatorInviteRequest {
  /** A name for people. */
  readonly name: string;
  /** Why, for the audit trail. */
  readonly reason: string;
  /** `viewer`, `agent`, `approver` or `admin`. */
  readonly role: string;
}

/** The settings of the gateway that operators act under. */
export interface OperatorSettings {
  /** Which acts a second operator has to confirm. */
  readonly four_eyes: FourEyes;
}

/** A person who runs the gateway. */
export interface Operator {
  /** When they were invited, RFC 3339. */
  readonly created_at: Timestamp;
  /** When they enrolled, RFC 3339. */
  readonly enrolled_at?: Timestamp | null;
  /** When the invitation expires, RFC 3339; null once it was used. */
  readonly expires_at?: Timestamp | null;
  /** `opr_` and a ULID. */
  readonly id: string;
  /** Who invited them; null if that was done on the store itself. */
  readonly invited_by?: string | null;
  /** A name for people. */
  readonly name: string;
  /** When they were revoked, RFC 3339. */
  readonly revoked_at?: Timestamp | null;
  /** What they may do. */
  readonly role: OperatorRole;
  /** Whether they were invited, may sign, or were revoked. */
  readonly status: OperatorStatus;
}

/** What the gateway did in a period, and what waits. */
export interface Overview {
  /** How many requests of operators wait for a second one. */
  readonly approvals_pending: number;
  /** Whether those are all of the period. */
  readonly complete: boolean;
  /** How many settlements were counted: the newest of the period. */
  readonly counted: number;
  /** By environment, provider and currency. */
  readonly figures: readonly Figure[];
  /** The beginning of the period, RFC 3339. */
  readonly from: Timestamp;
  /**
   * The servers that run over the store, and those that were gone within a day without a proper stop; the newest first. A server
   * of a version that keeps no record of itself is not among them.
   */
  readonly nodes: readonly Node[];
  /** What waits to be carried out. */
  readonly queues: Queues;
  /** What waits for a person. */
  readonly reviews: ReviewsDue;
  /** Its end, exclusive, RFC 3339. */
  readonly to: Timestamp;
  /** What became of the webhooks of the period. */
  readonly webhooks: WebhookFigures;
}

/** What a provider was given, and what is on its way, in one currency: an account of the ledger. */
export interface Position {
  /** ISO 4217 code. */
  readonly currency: string;
  /** What is on hold for payments that it may have. */
  readonly pending: Amount;
  /** What was paid through it: carried out, less what came back. The gateway owes it so much as was not settled with it outside. */
  readonly posted: Amount;
  /** The provider. */
  readonly provider: string;
  /** Whether it is the sandbox. */
  readonly sandbox: boolean;
}

/** More than zero, at most 15 significant digits, no exponent, no more decimals than the currency has. A JSON number, or a string with the same text. */
export type PositiveAmountInput = AmountInput;

/** What a user wants to be told, and where. What is left out is as by default. */
export interface PreferencesRequest {
  /** What a push may say: `none` (by default), `amount` or `full`. */
  readonly detail?: string | null;
  /** By kind of notification, where it is shown. Default: everywhere. */
  readonly kinds?: Readonly<Record<string, ChannelsRequest>> | null;
  /** The language, a BCP 47 tag. Default: that of each device. */
  readonly locale?: string | null;
  /** When pushes wait. */
  readonly quiet_hours?: QuietHoursRequest | null;
}

/** What a user wants to be told, and where. */
export interface Preferences {
  /** What a push may say: `none`, `amount` or `full`. */
  readonly detail: string;
  /** By kind of notification, where it is shown: all kinds. */
  readonly kinds: Readonly<Record<string, Channels>>;
  /** The language, a BCP 47 tag; null for that of each device. */
  readonly locale?: string | null;
  /** When pushes wait; null for never. */
  readonly quiet_hours?: QuietHoursRequest | null;
}

/** What a provider promises to do. */
export interface PromisedRequest {
  /** It can identify the payee before a payment. */
  readonly check_payee?: boolean | null;
  /** It can be asked for the outcome of a payment, and its "not found" is authoritative. */
  readonly inquiry?: boolean | null;
  /** It can reverse a part of a payment. */
  readonly partial_reverse?: boolean | null;
  /** It can reverse a payment. */
  readonly reverse?: boolean | null;
}

/** The publication of a bundle. */
export interface PublishBundleRequest {
  /** `sandbox` first, then `live`. */
  readonly mode: string;
  /** 1 to 500 printable characters. */
  readonly reason: string;
  /** Whether its wishes are added to the table of routes; default: true. */
  readonly routes?: boolean | null;
}

/** Where a bundle's provider was made. */
export interface Published {
  /** Live. */
  readonly live: boolean;
  /** In the sandbox, as `<id>-sandbox`. */
  readonly sandbox: boolean;
}

/** The keys of a push subscription, in base64url. */
export interface PushKeysRequest {
  /** 16 bytes that only the device and the gateway know. */
  readonly auth: string;
  /** The public key of the device: a point of P-256. */
  readonly p256dh: string;
}

/** A push subscription, as `PushSubscription.toJSON()` gives it. */
export interface PushSubscriptionRequest {
  /** The key that it was made with, if that is not the present one: `application_server_key` of an earlier answer. */
  readonly application_server_key?: string | null;
  /** Where the push service takes messages for it. */
  readonly endpoint: string;
  /** When it expires, in milliseconds since 1970; null for never. */
  readonly expirationTime?: number | null;
  /** The keys that encrypt for it. */
  readonly keys: PushKeysRequest;
  /** The language of the device, a BCP 47 tag. Default: the first of `Accept-Language`. */
  readonly locale?: string | null;
}

/** A push subscription of a user. */
export interface PushSubscription {
  /** When it was made, RFC 3339. */
  readonly created_at: Timestamp;
  /** When it expires, RFC 3339; null for never. */
  readonly expires_at?: Timestamp | null;
  /** Since when all pushes to it have failed, RFC 3339; null if the last one arrived. */
  readonly failing_since?: Timestamp | null;
  /** `psh_` and a ULID. */
  readonly id: string;
  /** The language of the device, a BCP 47 tag. */
  readonly locale?: string | null;
  /** The push service, without the rest of the endpoint, which is a secret of the device. */
  readonly push_service: string;
  /** Whether it was made by the device that asks. */
  readonly this_device: boolean;
}

/** The push subscriptions of a user, and what a new one needs. */
export interface PushSubscriptions {
  /** What to pass to `PushManager.subscribe` as `applicationServerKey`. */
  readonly application_server_key: string;
  /** The subscriptions, oldest first. */
  readonly data: readonly PushSubscription[];
}

/** A provider, and why it is put. */
export interface PutProviderRequest {
  /** The address of its interface. */
  readonly base_url?: string | null;
  /** The countries that it reaches, ISO 3166-1 alpha-2, for people. */
  readonly countries?: readonly string[] | null;
  /** The currencies that it settles, ISO 4217; default: all. */
  readonly currencies?: readonly string[] | null;
  /** Whether it takes new payments; default: true. */
  readonly enabled?: boolean | null;
  /** What it charges. The rule that fits best applies: of both currency and namespace, then of the currency, then of the namespace. */
  readonly fees?: readonly FeeRequest[] | null;
  /** Stable id. */
  readonly id: string;
  /** Smallest and largest payments, by currency. */
  readonly limits?: Readonly<Record<string, LimitRequest>> | null;
  /** Whether it takes none for a while; default: false. */
  readonly maintenance?: boolean | null;
  /** `sandbox` or `live`, never both. */
  readonly mode: string;
  /** A name for people. */
  readonly name: string;
  /** The kinds of participant that it reaches; default: all. */
  readonly namespaces?: readonly string[] | null;
  /** The protocol that it speaks. */
  readonly rail: string;
  /** Why, for the audit trail. */
  readonly reason: string;
  /** Secrets of its rail, by name. They are never shown again; left out, those that it has stay. */
  readonly secrets?: SecretTexts | null;
  /** Settings of its rail. */
  readonly settings?: Readonly<Record<string, string>> | null;
  /** How long calls to it may take. */
  readonly timeouts?: TimeoutsRequest | null;
}

/** The whole table of routes, and why it is put. */
export interface PutRoutesRequest {
  /** Why, for the audit trail. */
  readonly reason: string;
  /** The entries. For a kind of participant without any, every enabled provider that serves it is tried, in order of id. */
  readonly routes: readonly RouteRequest[];
}

/** What a device measured: 1 to 500 points. */
export interface QualityRequest {
  /** The points, in any order. */
  readonly items: readonly QualityPointRequest[];
}

/** A group. It has a member for each that was asked for. */
export interface QualityGroup {
  /** The version of the app, or `unknown`. */
  readonly app_version?: string | null;
  /** How many points there are. */
  readonly count: number;
  /** The day (UTC). */
  readonly day?: string | null;
  /** The share of points that are about something that failed. */
  readonly failure_rate: number;
  /** The beginning of the hour, RFC 3339; of what is older than nine days, of the day. */
  readonly hour?: Timestamp | null;
  /** The largest value. */
  readonly max: Amount;
  /** The mean of the values. */
  readonly mean: Amount;
  /** The smallest value. */
  readonly min: Amount;
  /** What the devices were connected by. */
  readonly network?: Network | null;
  /** The operating system, or `unknown`. */
  readonly os?: string | null;
  /** Whether this is what the groups of fewer than five devices add up to. It has none of the members that tell groups apart. */
  readonly other?: boolean;
  /** The median: like the other percentiles, at most one hundredth of its size off. */
  readonly p50: Amount;
  /** The 95th percentile. */
  readonly p95: Amount;
  /** The 99th percentile. */
  readonly p99: Amount;
  /** The provider's id, or `none` for points about no settlement. */
  readonly provider?: string | null;
  /** What the values are measured in. Different ones are never added up. */
  readonly unit: QualityUnit;
}

/** One point. It has no text that could name a person. */
export interface QualityPointRequest {
  /** The version of the app. */
  readonly app_version?: string | null;
  /** When it was measured, RFC 3339: in the last seven days, and at most five minutes ahead of the gateway's clock. */
  readonly at: TimeInput;
  /** Whether what was measured failed. Default: it did not. */
  readonly failed?: boolean | null;
  /** The app's own id, unique on the device: a point that is sent again counts once. */
  readonly id: string;
  /** What was measured: up to four lower-case names. */
  readonly metric: string;
  /** `wifi`, `cellular`, `ethernet`, `offline` or `unknown`, which is the default. */
  readonly network?: string | null;
  /** The operating system, and its version. */
  readonly os?: string | null;
  /** The settlement that it is about: its `stl_` id or its reference. Only its provider is kept, if it is the caller's own. */
  readonly settlement?: string | null;
  /** `ms`, `s`, `count`, `bytes` or `percent`. */
  readonly unit: string;
  /** The value: up to 1,000,000,000,000 on either side of zero, rounded to thousandths. */
  readonly value: AmountInput;
}

/** A point that was refused. */
export interface QualityRefusal {
  /** Why, with pointers into the point. A batch lists at most 100 problems: of further points, none. */
  readonly errors: readonly FieldProblem[];
  /** Its place in the batch, from 0. */
  readonly index: number;
}

/** What devices measured of one thing, in groups. A group of fewer than five devices is not shown by itself. */
export interface QualitySummary {
  /** Whether everything was counted: of very much, the newest is. */
  readonly complete: boolean;
  /** `sandbox` or `live`. */
  readonly environment: Environment;
  /** The beginning, RFC 3339: of an hour, UTC. */
  readonly from: Timestamp;
  /** The groups, in order. */
  readonly groups: readonly QualityGroup[];
  /** What was measured. */
  readonly metric: string;
  /** The end, RFC 3339, exclusive. */
  readonly to: Timestamp;
  /** How many points are in none of the groups, because too few devices measured them. */
  readonly withheld: number;
}

/** What became of a batch of points. */
export interface QualityTaken {
  /** How many points were taken. */
  readonly accepted: number;
  /** How many had been taken before. */
  readonly duplicates: number;
  /** The points that were refused; sending them again does not help. */
  readonly refused: readonly QualityRefusal[];
}

/** What waits to be carried out by the servers; each counted up to 10,000. Under load, a few of each always do. */
export interface Queues {
  /** Commits whose events are not in the feeds yet. */
  readonly commits_to_number: number;
  /** Calls to providers that are due. */
  readonly outbox_due: number;
  /** Since when the oldest of them is due, RFC 3339. */
  readonly outbox_due_since?: Timestamp | null;
  /** Webhooks with deliveries that are due. */
  readonly webhooks_due: number;
}

/** Hours of the day during which pushes wait. */
export interface QuietHoursRequest {
  /** When they begin, `HH:MM`. */
  readonly from: string;
  /** An IANA time zone, or an offset such as `+03:00`. */
  readonly time_zone: string;
  /** When they end, `HH:MM`; the next day, if not later than `from`. */
  readonly to: string;
}

/** Why something is done, for the audit trail. */
export interface ReasonRequest {
  /** 1 to 500 printable characters. */
  readonly reason: string;
}

/** A provider's statement that was compared with the settlements. */
export interface Reconciliation {
  /** On both sides, with different amounts. */
  readonly amount_differs: number;
  /** When it was begun, RFC 3339. */
  readonly created_at: Timestamp;
  /** More than once there. */
  readonly duplicate_there: number;
  /** The name of the file. */
  readonly file: string;
  /** When it was complete, RFC 3339. */
  readonly finished_at?: Timestamp | null;
  /** The format of the file. */
  readonly format: StatementFormat;
  /** Its id. */
  readonly id: string;
  /** The lines that were compared. */
  readonly lines: number;
  /** The operator who had it made; null if that was done on the store itself. */
  readonly made_by?: string | null;
  /** The lines that match. */
  readonly matched: Matched;
  /** Carried out there, and not carried out or not known here. */
  readonly missing_here: number;
  /** Carried out here, and not in the statement. */
  readonly missing_there: number;
  /** The beginning of the time that the statement is about, RFC 3339. */
  readonly period_from?: Timestamp | null;
  /** The end of it, exclusive. */
  readonly period_to?: string | null;
  /** The provider. */
  readonly provider: string;
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly sha256: string;
  /** The lines that do not count: not booked, or of nothing. */
  readonly skipped: number;
  /** Whether it is complete. Until then the counts are zero. */
  readonly status: ReconciliationStatus;
}

/** A decision about something that needs review. */
export interface ResolveReviewRequest {
  /** What proves it, for the audit trail. Clients never see it. */
  readonly evidence: string;
  /** Why, for the audit trail. */
  readonly reason?: string | null;
  /** `confirmed_completed`, `confirmed_failed`, `accept_discrepancy` or `keep_waiting`. */
  readonly resolution: string;
  /** The version of the settlement that the operator has seen. */
  readonly version?: number | null;
}

/** What a reviewer says about a bundle. */
export interface ReviewBundleRequest {
  /** 1 to 2,000 characters. */
  readonly comment: string;
}

/** A settlement that needs review, or one of its reversals. */
export interface Review {
  /** The amount at stake: of the settlement or of the reversal. */
  readonly amount: Amount;
  /** The client that owns it. */
  readonly client_id: string;
  /** Its currency. */
  readonly currency: string;
  /** When a person should look at it. */
  readonly due_at: string;
  /** Names it: the settlement's id, followed by a dot and the reversal's number if it is about one. */
  readonly id: string;
  /** Since when. */
  readonly opened_at: string;
  /** The provider that has it. */
  readonly provider: string;
  /** Why it waits. */
  readonly reason: ReviewReason;
  /** The client's reference for the settlement. */
  readonly reference: string;
  /** The reversal's number within the settlement, from 1; `None` if it is about the settlement itself. */
  readonly reversal?: number | null;
  /** The reversal's id. */
  readonly reversal_id?: string | null;
  /** Whether it is of the sandbox. */
  readonly sandbox: boolean;
  /** The settlement's id. */
  readonly settlement_id: string;
  /** The status of the settlement or of the reversal. */
  readonly status: StateName;
}

/** What waits for a person. */
export interface ReviewsDue {
  /** What those add up to, by environment and currency. */
  readonly at_stake: readonly Stake[];
  /** How many, counted up to 10,000. */
  readonly due: number;
  /** Since when the oldest waits, RFC 3339. */
  readonly oldest_at?: Timestamp | null;
}

/** Another role for an operator. */
export interface RoleRequest {
  /** Why, for the audit trail. */
  readonly reason: string;
  /** `viewer`, `agent`, `approver` or `admin`. */
  readonly role: string;
}

/** An entry: for payments like these, these providers. The longest prefix wins, then the narrowest entry. */
export interface RouteRequest {
  /** Only this currency. */
  readonly currency?: string | null;
  /** The largest payment; needs a currency. */
  readonly max?: PositiveAmountInput | null;
  /** The smallest payment; needs a currency. */
  readonly min?: PositiveAmountInput | null;
  /** `sandbox` or `live`. */
  readonly mode: string;
  /** The kind of participant. */
  readonly namespace: string;
  /** What the participant's identifier starts with. */
  readonly prefix?: string | null;
  /** The providers to try. */
  readonly providers: readonly ChoiceRequest[];
}

/** An endpoint for tests. */
export interface SandboxPlaceRequest {
  /** Its address. */
  readonly base_url: string;
  /** Settings that differ from the general ones. */
  readonly settings?: Readonly<Record<string, string>> | null;
  /** Whom the test pays there. */
  readonly test: TestPartiesRequest;
}

/** Secrets by name. Debugging shows the names only. */
export type SecretTexts = Readonly<Record<string, string>>;

/** What a client pays instead of the providers' fees. */
export interface SetFeesRequest {
  /** All of its rules. */
  readonly fees: readonly FeeRequest[];
  /** Why, for the audit trail. */
  readonly reason: string;
}

/** The floor of a client's live account: how far below zero its available money may fall. */
export interface SetFloorRequest {
  /** Zero for none, otherwise less than zero. */
  readonly amount: AmountInput;
  /** ISO 4217 code. */
  readonly currency: string;
  /** What proves it, such as the paragraph of a contract. Clients never see it. */
  readonly evidence: string;
  /** Why, for the audit trail. */
  readonly reason?: string | null;
  /**
   * The operator's reference, unique for each client, also among deposits and withdrawals: a repeat of the same change changes
   * nothing.
   */
  readonly reference: string;
}

/** The limits of a client's payments in one mode and currency. What is left out stays as it is; `null` lifts a limit. */
export interface SetLimitsRequest {
  /** ISO 4217 code. */
  readonly currency: string;
  /** The most payments of a day. */
  readonly daily_count?: number | null;
  /** The most that the payments of a day (UTC) add up to. */
  readonly daily_value?: PositiveAmountInput | null;
  /** The largest payment. */
  readonly max?: PositiveAmountInput | null;
  /** The smallest payment. */
  readonly min?: PositiveAmountInput | null;
  /** `sandbox` or `live`. */
  readonly mode: string;
  /** Why, for the audit trail. */
  readonly reason: string;
}

/** Which calls a client's sessions may sign instead of its key. */
export interface SetSessionSignaturesRequest {
  /** `sandbox` or `live`. */
  readonly mode: string;
  /** Why, for the audit trail. */
  readonly reason: string;
  /** `all`: every call that need not be signed by the key itself; `reads`: of those, calls with `GET` or `HEAD`; `off`: none. */
  readonly session_signatures: string;
}

/** A payment as the app showed it to its user. It must be what the gateway has, and the device's signature covers it. */
export interface ShownRequest {
  /** The amount. */
  readonly amount: PositiveAmountInput;
  /** ISO 4217 code. */
  readonly currency: string;
  /** The name of the payee, if the app showed one. */
  readonly payee_name?: string | null;
  /** The reference. */
  readonly reference: string;
  /** The payee. */
  readonly to: string;
}

/** What waits for a person in one currency. */
export interface Stake {
  /** The sum of the payments and reversals. */
  readonly amount: Amount;
  /** ISO 4217 code. */
  readonly currency: string;
  /** Whether it is the sandbox. */
  readonly sandbox: boolean;
}

/** Something in which a statement and the settlements differ. */
export interface StatementFinding {
  /** The amount of the settlement or of the reversal. */
  readonly amount?: Amount | null;
  /** The client that owns it. */
  readonly client_id?: string | null;
  /** How certain that is, in hundredths. */
  readonly confidence: number;
  /** Its currency. */
  readonly currency?: string | null;
  /** How they differ. */
  readonly kind: FindingKind;
  /** The line of the statement; null if the statement has none. */
  readonly line?: StatementLine | null;
  /** What connects the line to the settlement. */
  readonly matched_by?: MatchedBy | null;
  /** Its number in the reconciliation, from 1. */
  readonly n: number;
  /** The reconciliation. */
  readonly reconciliation_id: string;
  /** The client's reference for the settlement. */
  readonly reference?: string | null;
  /** The number of the reversal, if it is about one. */
  readonly reversal?: number | null;
  /** The settlement; null if none is known. */
  readonly settlement_id?: string | null;
  /** The status of the settlement or of the reversal now. */
  readonly status?: StateName | null;
  /** Whether the settlement or reversal waits for a person. */
  readonly waits: boolean;
}

/** A line of a statement. */
export interface StatementLine {
  /** The amount. */
  readonly amount: Amount;
  /** When it was booked: RFC 3339, or a date. */
  readonly booked_at: Timestamp;
  /** Its currency. */
  readonly currency: string;
  /** `outgoing` for money that left, `incoming` for money that came. */
  readonly direction: Direction;
  /** The provider's identifier of the entry. */
  readonly entry?: string | null;
  /** Its place: the line in a table, the number of the entry in every other format. */
  readonly line: number;
  /** The identifier of the other party. */
  readonly participant?: string | null;
  /** The references in it. */
  readonly references: readonly string[];
  /** What it says for people. */
  readonly text?: string | null;
}

/** What is agreed with a client. What is left out is not limited. */
export interface TermsRequest {
  /** The client. */
  readonly client: string;
  /** By currency, how far below zero the available money of its live account may fall. */
  readonly credit?: Readonly<Record<string, AmountInput>> | null;
  /** What it pays instead of the providers' fees, where a rule fits. */
  readonly fees?: readonly FeeRequest[] | null;
  /** Limits of its payments, at most one entry for each mode and currency. */
  readonly limits?: readonly ClientLimitRequest[] | null;
  /** For how many days after its completion a payment can be reversed. */
  readonly reversal_days?: number | null;
  /** By mode, which calls its sessions may sign: `all` (by default in `sandbox`), `reads` (by default in `live`) or `off`. */
  readonly session_signatures?: Readonly<Record<string, string>> | null;
}

/** Whom the test of the sandbox endpoint pays, and how much. */
export interface TestPartiesRequest {
  /** How much each time; default: 10. */
  readonly amount?: PositiveAmountInput | null;
  /** In which currency; default: the first of `currencies`. */
  readonly currency?: string | null;
  /** Somebody who is paid later: the payment is accepted at first; without it, callbacks are not tested. */
  readonly later_to?: string | null;
  /** Somebody who is paid at once, or within 20 seconds. */
  readonly to: string;
  /** Somebody whom it does not know; without it, declines are not tested. */
  readonly unknown_to?: string | null;
}

/** Time-outs of calls to a provider, in milliseconds. */
export interface TimeoutsRequest {
  /** How long an answer may take, connection included. */
  readonly answer_ms?: number | null;
  /** How long a connection may take to be made. */
  readonly connect_ms?: number | null;
}

/** A new access token. */
export interface Token {
  /** Send it as `Authorization: Bearer …`, and sign each call with the key that requested it. It is not shown again. */
  readonly access_token: string;
  /** Lifetime in seconds. */
  readonly expires_in: number;
  /** The token's scopes, separated by spaces. */
  readonly scope: string;
  /** Always `Bearer`. */
  readonly token_type: string;
}

/** How many notifications are unread after a change. */
export interface Unread {
  /** How many of the whole inbox are unread. */
  readonly unread_count: number;
}

/** A change of an end user. What is left out stays as it is. */
export interface UserRequest {
  /** What the user may pay. One entry for each currency. */
  readonly limits?: readonly UserLimitsRequest[] | null;
  /** `active`, or `blocked`: the user's devices may not call. */
  readonly status?: string | null;
}

/** What an end user may pay in one currency, without fees. A day is UTC. */
export interface UserLimitsRequest {
  /** Payments of more than this wait until the user approves them on a device. */
  readonly approval_over?: AmountInput | null;
  /** ISO 4217 code. */
  readonly currency: string;
  /** The most payments of a day. */
  readonly daily_count?: number | null;
  /** The most that the payments of a day add up to. */
  readonly daily_value?: AmountInput | null;
  /** The largest payment. */
  readonly max?: AmountInput | null;
}

/** What an end user may pay in one currency. */
export interface UserLimits {
  /** Payments of more than this wait for the user. */
  readonly approval_over?: Amount | null;
  /** ISO 4217 code. */
  readonly currency: string;
  /** The most payments of a day. */
  readonly daily_count?: number | null;
  /** The most that the payments of a day (UTC) add up to. */
  readonly daily_value?: Amount | null;
  /** The largest payment. */
  readonly max?: Amount | null;
}

/** An end user as the client sees them. */
export interface User {
  /** When the client first named the user, RFC 3339. */
  readonly created_at: Timestamp;
  /** `sandbox` or `live`. */
  readonly environment: Environment;
  /** What the user may pay. */
  readonly limits: readonly UserLimits[];
  /** Whether the user's devices may call. */
  readonly status: UserStatus;
  /** The client's own name for the user. */
  readonly user: string;
  /** Increases with every change. */
  readonly version: number;
}

/** The deliveries of webhooks, of all clients and both environments. */
export interface WebhookFigures {
  /** Whether those are all of the period. */
  readonly complete: boolean;
  /** How many were counted: the oldest of the period, up to 50,000. Deliveries are kept for 30 days. */
  readonly counted: number;
  /** How many have arrived. */
  readonly delivered: number;
  /** How many were given up. */
  readonly failed: number;
  /** How many failed so far and will be tried again. */
  readonly retrying: number;
  /** How many were not tried yet. */
  readonly waiting: number;
}

/** Payments that a provider would like to get. */
export interface WishRequest {
  /** Only this currency. */
  readonly currency?: string | null;
  /** The largest payment; needs a currency. */
  readonly max?: PositiveAmountInput | null;
  /** The smallest payment; needs a currency. */
  readonly min?: PositiveAmountInput | null;
  /** The kind of participant. */
  readonly namespace: string;
  /** What the participant's identifier starts with. */
  readonly prefix?: string | null;
  /** The lowest is tried first; default: 100. */
  readonly priority?: number | null;
  /** Its share among those of the same priority; default: 1. */
  readonly weight?: number | null;
}

/** What each call takes and returns, by its path below `/api/v1` and its method. It describes types only: there is no such value. */
export interface Routes {
  readonly "/auth/keys": {
    /** List the client's keys, oldest first. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": { readonly data: readonly Key[] };
      };
    };
  };
  readonly "/auth/keys/{kid}": {
    /** Revoke a key. */
    readonly DELETE: {
      readonly params: {
        /** The key's thumbprint */
        readonly kid: string;
      };
      readonly answers: {
        readonly "application/json": undefined;
      };
    };
  };
  readonly "/balances": {
    /** Read all balances. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": { readonly data: readonly Balance[] };
      };
    };
  };
  readonly "/balances/movements/{reference}": {
    /** Read a deposit, a withdrawal or a credit line. */
    readonly GET: {
      readonly params: {
        /** The operator's reference */
        readonly reference: string;
      };
      readonly answers: {
        readonly "application/json": BalanceMovement;
      };
    };
  };
  readonly "/balances/{currency}": {
    /** Read the balance in one currency. */
    readonly GET: {
      readonly params: {
        /** ISO 4217 code */
        readonly currency: string;
      };
      readonly answers: {
        readonly "application/json": Balance;
      };
    };
  };
  readonly "/balances/{currency}/entries": {
    /** Read the statement of one currency, newest first. */
    readonly GET: {
      readonly params: {
        /** ISO 4217 code */
        readonly currency: string;
      };
      readonly query?: {
        /** RFC 3339, inclusive */
        readonly from?: Timestamp | Date;
        /** RFC 3339, exclusive */
        readonly to?: Timestamp | Date;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<StatementEntry>;
        readonly "application/x-ndjson": string;
        readonly "text/csv": string;
      };
    };
  };
  readonly "/bundles": {
    /** List the client's bundles, newest first. */
    readonly GET: {
      readonly query?: {
        /** Only bundles in this state */
        readonly status?: BundleStatus;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<BundleSummary>;
      };
    };
    /** Create a bundle. */
    readonly POST: {
      readonly body: BundleRequest;
      readonly contentType: "application/json" | "application/zip";
      readonly answers: {
        readonly "application/json": Bundle;
      };
    };
  };
  readonly "/bundles/schema": {
    /** Read the JSON Schema of manifests. */
    readonly GET: {
      readonly answers: {
        readonly "application/schema+json": string;
      };
    };
  };
  readonly "/bundles/{id}": {
    /** Read a bundle. */
    readonly GET: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Bundle;
      };
    };
    /** Replace the content of a bundle. */
    readonly PUT: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly ifMatch: string;
      readonly body: BundleRequest;
      readonly contentType: "application/json" | "application/zip";
      readonly answers: {
        readonly "application/json": Bundle;
      };
    };
  };
  readonly "/bundles/{id}/approve": {
    /** Approve a bundle. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly body: ApproveBundleRequest;
      readonly answers: {
        readonly "application/json": BundleSummary;
      };
    };
  };
  readonly "/bundles/{id}/comments": {
    /** Comment on a bundle. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly body: BundleCommentRequest;
      readonly answers: {
        readonly "application/json": BundleSummary;
      };
    };
  };
  readonly "/bundles/{id}/conformance": {
    /** Read the report of the last test of a bundle's sandbox endpoint. */
    readonly GET: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Conformance;
      };
    };
  };
  readonly "/bundles/{id}/diff": {
    /** Compare two revisions of a bundle. */
    readonly GET: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly query?: {
        /** The earlier revision */
        readonly from?: number;
        /** The later revision */
        readonly to?: number;
      };
      readonly answers: {
        readonly "application/json": BundleDiff;
      };
    };
  };
  readonly "/bundles/{id}/documents/{name}": {
    /** Download a document of a bundle. */
    readonly GET: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
        /** The name of the document */
        readonly name: string;
      };
      readonly query?: {
        /** The revision; default: the last */
        readonly revision?: number;
      };
      readonly answers: {
        readonly "application/octet-stream": Uint8Array;
      };
    };
  };
  readonly "/bundles/{id}/publish": {
    /** Publish a bundle. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly ifMatch?: string;
      readonly body: PublishBundleRequest;
      readonly answers: {
        readonly "application/json": Bundle | Asked;
      };
    };
  };
  readonly "/bundles/{id}/reject": {
    /** Reject a bundle. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly body: ReviewBundleRequest;
      readonly answers: {
        readonly "application/json": BundleSummary;
      };
    };
  };
  readonly "/bundles/{id}/request-changes": {
    /** Ask for changes of a bundle. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly body: ReviewBundleRequest;
      readonly answers: {
        readonly "application/json": BundleSummary;
      };
    };
  };
  readonly "/bundles/{id}/revoke": {
    /** Revoke a published bundle. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly ifMatch?: string;
      readonly body: ReasonRequest;
      readonly answers: {
        readonly "application/json": Bundle | Asked;
      };
    };
  };
  readonly "/bundles/{id}/start-review": {
    /** Begin the review of a bundle. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly body?: ReviewBundleRequest;
      readonly answers: {
        readonly "application/json": BundleSummary;
      };
    };
  };
  readonly "/bundles/{id}/submit": {
    /** Submit a bundle. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly ifMatch?: string;
      readonly body?: ReviewBundleRequest;
      readonly answers: {
        readonly "application/json": BundleSummary;
      };
    };
  };
  readonly "/bundles/{id}/test": {
    /** Ask for another test of a bundle's sandbox endpoint. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly body?: ReviewBundleRequest;
      readonly answers: {
        readonly "application/json": BundleSummary;
      };
    };
  };
  readonly "/bundles/{id}/timeline": {
    /** Read the timeline of a bundle, oldest first. */
    readonly GET: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly query?: {
        /** Only steps after this one */
        readonly after?: number;
        /** Page size, 50 by default */
        readonly limit?: number;
      };
      readonly answers: {
        readonly "application/json": BundleTimeline;
      };
    };
  };
  readonly "/bundles/{id}/withdraw": {
    /** Withdraw a bundle. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly ifMatch?: string;
      readonly body?: ReviewBundleRequest;
      readonly answers: {
        readonly "application/json": BundleSummary;
      };
    };
  };
  readonly "/gateway/events": {
    /** Read or follow all events. */
    readonly GET: {
      readonly query?: {
        /** Only events after this position, or `latest`: only those that are yet to come */
        readonly after?: string;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** The epoch that the position is of, from an earlier page: another one is refused */
        readonly epoch?: number;
      };
      readonly answers: {
        readonly "application/json": FeedPage;
      };
    };
  };
  readonly "/gateway/settlements": {
    /** List settlements, newest first. */
    readonly GET: {
      readonly query?: {
        /** Any of these statuses; may appear more than once. */
        readonly status?: SettlementStatus | readonly SettlementStatus[];
        /** ISO 4217 code. */
        readonly currency?: string;
        /** The provider's id. */
        readonly provider?: string;
        /** The client's own name for the end user who pays. */
        readonly user?: string;
        /** The participant who is paid. */
        readonly to?: string;
        /** The client's reference. */
        readonly reference?: string;
        /** `true` for sandbox settlements, `false` for live ones. */
        readonly sandbox?: boolean;
        /** RFC 3339, inclusive. */
        readonly created_from?: Timestamp | Date;
        /** RFC 3339, exclusive. */
        readonly created_to?: Timestamp | Date;
        /** Decimal, inclusive. */
        readonly min_amount?: AmountInput;
        /** Decimal, inclusive. */
        readonly max_amount?: AmountInput;
        /** Flagged for review by a person. */
        readonly needs_review?: boolean;
        /** Only payments by the client, or only payments to it; without it, both. */
        readonly direction?: Direction;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<Settlement>;
      };
    };
    /** Create a settlement. */
    readonly POST: {
      readonly body: CreateRequest;
      readonly answers: {
        readonly "application/json": Settlement;
      };
    };
  };
  readonly "/gateway/settlements/batch": {
    /** Create up to 1,000 settlements in one call. */
    readonly POST: {
      readonly body: CreateBatchRequest;
      readonly answers: {
        readonly "application/json": Batch;
      };
    };
  };
  readonly "/gateway/settlements/check": {
    /** Check a create request without doing anything. */
    readonly POST: {
      readonly body: CreateRequest;
      readonly answers: {
        readonly "application/json": CheckResult;
      };
    };
  };
  readonly "/gateway/settlements/export": {
    /** Export settlements as CSV or NDJSON. */
    readonly GET: {
      readonly query?: {
        /** Any of these statuses; may appear more than once. */
        readonly status?: SettlementStatus | readonly SettlementStatus[];
        /** ISO 4217 code. */
        readonly currency?: string;
        /** The provider's id. */
        readonly provider?: string;
        /** The client's own name for the end user who pays. */
        readonly user?: string;
        /** The participant who is paid. */
        readonly to?: string;
        /** The client's reference. */
        readonly reference?: string;
        /** `true` for sandbox settlements, `false` for live ones. */
        readonly sandbox?: boolean;
        /** RFC 3339, inclusive. */
        readonly created_from?: Timestamp | Date;
        /** RFC 3339, exclusive. */
        readonly created_to?: Timestamp | Date;
        /** Decimal, inclusive. */
        readonly min_amount?: AmountInput;
        /** Decimal, inclusive. */
        readonly max_amount?: AmountInput;
        /** Flagged for review by a person. */
        readonly needs_review?: boolean;
        /** Only payments by the client, or only payments to it; without it, both. */
        readonly direction?: Direction;
      };
      readonly answers: {
        readonly "application/x-ndjson": string;
        readonly "text/csv": string;
      };
    };
  };
  readonly "/gateway/settlements/{ref}": {
    /** Read a settlement. */
    readonly GET: {
      readonly params: {
        /** The client's reference, or the `stl_` id */
        readonly ref: string;
      };
      readonly answers: {
        readonly "application/json": Settlement;
      };
    };
  };
  readonly "/gateway/settlements/{ref}/check": {
    /** Ask the rail now, and reconcile. */
    readonly POST: {
      readonly params: {
        /** The client's reference, or the `stl_` id */
        readonly ref: string;
      };
      readonly answers: {
        readonly "application/json": ReconcileResult;
      };
    };
  };
  readonly "/gateway/settlements/{ref}/events": {
    /** Read a settlement's trace, or follow it live. */
    readonly GET: {
      readonly params: {
        /** The client's reference, or the `stl_` id */
        readonly ref: string;
      };
      readonly query?: {
        /** Only events with a higher sequence */
        readonly after?: number;
        /** Page size, 50 by default */
        readonly limit?: number;
      };
      readonly answers: {
        readonly "application/json": Page<SettlementEvent>;
      };
    };
  };
  readonly "/gateway/settlements/{ref}/receipt": {
    /** Get a settlement's receipt. */
    readonly GET: {
      readonly params: {
        /** The client's reference, or the `stl_` id */
        readonly ref: string;
      };
      readonly query?: {
        /** Of `image/svg+xml`: its side in pixels; four a module by default */
        readonly size?: number;
        /** Of `image/svg+xml`: light modules around the code, 4 by default */
        readonly margin?: number;
        /** Of `image/svg+xml`: how much of the code may be damaged: `L` (7 %, the default), `M` (15 %), `Q` (25 %), `H` (30 %) */
        readonly level?: string;
        /** Of `image/svg+xml`: the alternative text, by default the receipt's id */
        readonly title?: string;
      };
      readonly answers: {
        readonly "application/json": Receipt;
        readonly "application/jose": string;
        readonly "application/pdf": Uint8Array;
        readonly "image/svg+xml": string;
        readonly "text/html": string;
        readonly "text/plain": string;
      };
    };
  };
  readonly "/gateway/settlements/{ref}/receipt/proof": {
    /** Get the proof that a settlement's last event is in the log. */
    readonly GET: {
      readonly params: {
        /** The client's reference, or the `stl_` id */
        readonly ref: string;
      };
      readonly answers: {
        readonly "application/json": ReceiptProof;
        readonly "text/plain": string;
      };
    };
  };
  readonly "/gateway/settlements/{ref}/reversals": {
    /** List a settlement's reversals, oldest first. */
    readonly GET: {
      readonly params: {
        /** The client's reference, or the `stl_` id */
        readonly ref: string;
      };
      readonly answers: {
        readonly "application/json": { readonly data: readonly Reversal[] };
      };
    };
  };
  readonly "/gateway/settlements/{ref}/reversals/{id}": {
    /** Read a reversal. */
    readonly GET: {
      readonly params: {
        /** The client's reference, or the `stl_` id */
        readonly ref: string;
        /** The `rev_` id, or the client's reference of the reversal */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Reversal;
      };
    };
  };
  readonly "/gateway/settlements/{ref}/reverse": {
    /** Reverse a settlement. */
    readonly POST: {
      readonly params: {
        /** The client's reference, or the `stl_` id */
        readonly ref: string;
      };
      readonly body?: ReverseRequest;
      readonly answers: {
        readonly "application/json": ReverseResult;
      };
    };
  };
  readonly "/gateway/settlements/{ref}/status": {
    /** Read a settlement's status, or wait for a change. */
    readonly GET: {
      readonly params: {
        /** The client's reference, or the `stl_` id */
        readonly ref: string;
      };
      readonly query?: {
        /** Seconds to wait for a change */
        readonly wait?: number;
        /** The version that the caller already has */
        readonly version?: number;
      };
      readonly answers: {
        readonly "application/json": StatusView;
      };
    };
  };
  readonly "/log/checkpoint": {
    /** Get the log's checkpoint. */
    readonly GET: {
      readonly answers: {
        readonly "text/plain": string;
      };
    };
  };
  readonly "/log/keys": {
    /** Get the log's keys. */
    readonly GET: {
      readonly answers: {
        readonly "text/plain": string;
      };
    };
  };
  readonly "/log/tile/{tile}": {
    /** Get a tile of the log. */
    readonly GET: {
      readonly params: {
        /** The tile's path, which contains slashes */
        readonly tile: string;
      };
      readonly answers: {
        readonly "application/octet-stream": Uint8Array;
      };
    };
  };
  readonly "/mobile/approvals": {
    /** List the payments that wait for the user, newest first. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": { readonly data: readonly Settlement[] };
      };
    };
  };
  readonly "/mobile/approvals/{id}": {
    /** Read a payment that waits for the user, or did. */
    readonly GET: {
      readonly params: {
        /** The `stl_` id of the payment */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Settlement;
      };
    };
    /** Approve or decline a payment. */
    readonly POST: {
      readonly params: {
        /** The `stl_` id of the payment */
        readonly id: string;
      };
      readonly body: DecisionRequest;
      readonly answers: {
        readonly "application/json": Settlement;
      };
    };
  };
  readonly "/mobile/devices": {
    /** List the devices of a user, oldest first. */
    readonly GET: {
      readonly query?: {
        /** The client's own name for the user; not on a device */
        readonly user?: string;
      };
      readonly answers: {
        readonly "application/json": { readonly data: readonly Device[] };
      };
    };
    /** Enrol a device. */
    readonly POST: {
      readonly body: DeviceEnrollRequest;
      readonly answers: {
        readonly "application/json": DeviceEnrollment;
      };
    };
  };
  readonly "/mobile/devices/{id}": {
    /** Revoke a device. */
    readonly DELETE: {
      readonly params: {
        /** The `dev_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": undefined;
      };
    };
    /** Read a device. */
    readonly GET: {
      readonly params: {
        /** The `dev_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Device;
      };
    };
    /** Rename a device. */
    readonly PATCH: {
      readonly params: {
        /** The `dev_` id */
        readonly id: string;
      };
      readonly body: DeviceRequest;
      readonly answers: {
        readonly "application/json": Device;
      };
    };
  };
  readonly "/mobile/enrollment-codes": {
    /** Make a code for a device of an end user. */
    readonly POST: {
      readonly body: DeviceCodeRequest;
      readonly answers: {
        readonly "application/json": DeviceCode;
      };
    };
  };
  readonly "/mobile/notifications": {
    /** Read or follow a user's notifications. */
    readonly GET: {
      readonly query?: {
        /** `true` for unread ones only */
        readonly unread?: boolean;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Notifications;
      };
    };
  };
  readonly "/mobile/notifications/read-all": {
    /** Mark all notifications as read. */
    readonly POST: {
      readonly answers: {
        readonly "application/json": Unread;
      };
    };
  };
  readonly "/mobile/notifications/{id}/read": {
    /** Mark a notification as read. */
    readonly POST: {
      readonly params: {
        /** The `ntf_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Unread;
      };
    };
  };
  readonly "/mobile/preferences": {
    /** Read what the user wants to be told. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": Preferences;
      };
    };
    /** Replace what the user wants to be told. */
    readonly PUT: {
      readonly body: PreferencesRequest;
      readonly answers: {
        readonly "application/json": Preferences;
      };
    };
  };
  readonly "/mobile/push-subscriptions": {
    /** List the push subscriptions of a user, oldest first. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": PushSubscriptions;
      };
    };
    /** Push to a subscription from now on. */
    readonly POST: {
      readonly body: PushSubscriptionRequest;
      readonly answers: {
        readonly "application/json": PushSubscription;
      };
    };
  };
  readonly "/mobile/push-subscriptions/{id}": {
    /** Remove a push subscription. */
    readonly DELETE: {
      readonly params: {
        /** The `psh_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": undefined;
      };
    };
  };
  readonly "/mobile/quality": {
    /** Report what a device measured. */
    readonly POST: {
      readonly body: QualityRequest;
      readonly answers: {
        readonly "application/json": QualityTaken;
      };
    };
  };
  readonly "/mobile/quality/summary": {
    /** Summarise what devices measured. */
    readonly GET: {
      readonly query: {
        /** What was measured */
        readonly metric: string;
        /** RFC 3339, inclusive; the hour counts. Seven days before `to` by default, at most 92 */
        readonly from?: Timestamp | Date;
        /** RFC 3339, exclusive; a begun hour counts. Now by default */
        readonly to?: Timestamp | Date;
        /** What tells groups apart: up to two. One group by default */
        readonly by?: ("hour" | "day" | "app_version" | "os" | "network" | "provider") | readonly ("hour" | "day" | "app_version" | "os" | "network" | "provider")[];
      };
      readonly answers: {
        readonly "application/json": QualitySummary;
      };
    };
  };
  readonly "/mobile/users": {
    /** List the client's end users, by name. */
    readonly GET: {
      readonly query?: {
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<User>;
      };
    };
  };
  readonly "/mobile/users/{user}": {
    /** Read an end user. */
    readonly GET: {
      readonly params: {
        /** The client's own name for the user */
        readonly user: string;
      };
      readonly answers: {
        readonly "application/json": User;
      };
    };
    /** Add or change an end user. */
    readonly PUT: {
      readonly params: {
        /** The client's own name for the user */
        readonly user: string;
      };
      readonly body: UserRequest;
      readonly answers: {
        readonly "application/json": User;
      };
    };
  };
  readonly "/operator/approvals": {
    /** List what operators asked for, newest first. */
    readonly GET: {
      readonly query?: {
        /** Only those with this status */
        readonly status?: ApprovalStatus;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<Approval>;
      };
    };
  };
  readonly "/operator/approvals/{id}": {
    /** Read what an operator asked for. */
    readonly GET: {
      readonly params: {
        /** The `apr_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Approval;
      };
    };
  };
  readonly "/operator/approvals/{id}/confirm": {
    /** Confirm what another operator asked for. */
    readonly POST: {
      readonly params: {
        /** The `apr_` id */
        readonly id: string;
      };
      readonly body?: CommentRequest;
      readonly answers: {
        readonly "application/json": Asked;
      };
    };
  };
  readonly "/operator/approvals/{id}/decline": {
    /** Decline what an operator asked for. */
    readonly POST: {
      readonly params: {
        /** The `apr_` id */
        readonly id: string;
      };
      readonly body?: CommentRequest;
      readonly answers: {
        readonly "application/json": Asked;
      };
    };
  };
  readonly "/operator/audit": {
    /** Read the audit trail, newest first. */
    readonly GET: {
      readonly query?: {
        /** Only what concerns this client */
        readonly client?: string;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<Audit>;
      };
    };
  };
  readonly "/operator/bundles": {
    /** List the bundles of all partners, newest first. */
    readonly GET: {
      readonly query?: {
        /** Only bundles in this state */
        readonly status?: BundleStatus;
        /** Only bundles of this client */
        readonly client?: string;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<BundleSummary>;
      };
    };
  };
  readonly "/operator/bundles/{id}": {
    /** Read any bundle. */
    readonly GET: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Bundle;
      };
    };
  };
  readonly "/operator/bundles/{id}/comments": {
    /** Comment on any bundle. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly body: BundleCommentRequest;
      readonly answers: {
        readonly "application/json": BundleSummary;
      };
    };
  };
  readonly "/operator/bundles/{id}/conformance": {
    /** Read the report of the last test of any bundle's sandbox endpoint. */
    readonly GET: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Conformance;
      };
    };
  };
  readonly "/operator/bundles/{id}/diff": {
    /** Compare two revisions of any bundle. */
    readonly GET: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly query?: {
        /** The earlier revision */
        readonly from?: number;
        /** The later revision */
        readonly to?: number;
      };
      readonly answers: {
        readonly "application/json": BundleDiff;
      };
    };
  };
  readonly "/operator/bundles/{id}/documents/{name}": {
    /** Download a document of any bundle. */
    readonly GET: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
        /** The name of the document */
        readonly name: string;
      };
      readonly query?: {
        /** The revision; default: the last */
        readonly revision?: number;
      };
      readonly answers: {
        readonly "application/octet-stream": Uint8Array;
      };
    };
  };
  readonly "/operator/bundles/{id}/test": {
    /** Have the sandbox endpoint of any bundle tested again. */
    readonly POST: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly body?: ReviewBundleRequest;
      readonly answers: {
        readonly "application/json": BundleSummary;
      };
    };
  };
  readonly "/operator/bundles/{id}/timeline": {
    /** Read the timeline of any bundle, oldest first. */
    readonly GET: {
      readonly params: {
        /** The `bun_` id */
        readonly id: string;
      };
      readonly query?: {
        /** Only steps after this one */
        readonly after?: number;
        /** Page size, 50 by default */
        readonly limit?: number;
      };
      readonly answers: {
        readonly "application/json": BundleTimeline;
      };
    };
  };
  readonly "/operator/changes": {
    /** Read or follow whether something changed. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": Changes;
      };
    };
  };
  readonly "/operator/clients": {
    /** List the clients, oldest first. */
    readonly GET: {
      readonly query?: {
        /** Only clients with a key that awaits approval */
        readonly pending?: boolean;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<Client>;
      };
    };
  };
  readonly "/operator/clients/{id}": {
    /** Read a client. */
    readonly GET: {
      readonly params: {
        /** The `cli_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": ClientDetail;
      };
    };
  };
  readonly "/operator/clients/{id}/approve": {
    /** Approve live access. */
    readonly POST: {
      readonly params: {
        /** The `cli_` id */
        readonly id: string;
      };
      readonly body: ApproveClientRequest;
      readonly answers: {
        readonly "application/json": ClientDetail | Asked;
      };
    };
  };
  readonly "/operator/clients/{id}/deposits": {
    /** Credit what a client paid in. */
    readonly POST: {
      readonly params: {
        /** The `cli_` id */
        readonly id: string;
      };
      readonly body: MoveMoneyRequest;
      readonly answers: {
        readonly "application/json": Movement | Asked;
      };
    };
  };
  readonly "/operator/clients/{id}/fees": {
    /** Set the fees of a client. */
    readonly PUT: {
      readonly params: {
        /** The `cli_` id */
        readonly id: string;
      };
      readonly body: SetFeesRequest;
      readonly answers: {
        readonly "application/json": ClientDetail | Asked;
      };
    };
  };
  readonly "/operator/clients/{id}/floor": {
    /** Set the floor of a client's live account. */
    readonly PUT: {
      readonly params: {
        /** The `cli_` id */
        readonly id: string;
      };
      readonly body: SetFloorRequest;
      readonly answers: {
        readonly "application/json": Movement | Asked;
      };
    };
  };
  readonly "/operator/clients/{id}/limits": {
    /** Set the limits of a client in one mode and currency. */
    readonly PUT: {
      readonly params: {
        /** The `cli_` id */
        readonly id: string;
      };
      readonly body: SetLimitsRequest;
      readonly answers: {
        readonly "application/json": ClientDetail | Asked;
      };
    };
  };
  readonly "/operator/clients/{id}/resume": {
    /** End a client's suspension. */
    readonly POST: {
      readonly params: {
        /** The `cli_` id */
        readonly id: string;
      };
      readonly body: ReasonRequest;
      readonly answers: {
        readonly "application/json": ClientDetail;
      };
    };
  };
  readonly "/operator/clients/{id}/session-signatures": {
    /** Set which calls a client's sessions may sign. */
    readonly PUT: {
      readonly params: {
        /** The `cli_` id */
        readonly id: string;
      };
      readonly body: SetSessionSignaturesRequest;
      readonly answers: {
        readonly "application/json": ClientDetail | Asked;
      };
    };
  };
  readonly "/operator/clients/{id}/suspend": {
    /** Suspend a client. */
    readonly POST: {
      readonly params: {
        /** The `cli_` id */
        readonly id: string;
      };
      readonly body: ReasonRequest;
      readonly answers: {
        readonly "application/json": ClientDetail;
      };
    };
  };
  readonly "/operator/clients/{id}/withdrawals": {
    /** Debit what a client was paid out. */
    readonly POST: {
      readonly params: {
        /** The `cli_` id */
        readonly id: string;
      };
      readonly body: MoveMoneyRequest;
      readonly answers: {
        readonly "application/json": Movement | Asked;
      };
    };
  };
  readonly "/operator/operators": {
    /** List the operators. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": { readonly data: readonly Operator[] };
      };
    };
    /** Invite somebody to be an operator. */
    readonly POST: {
      readonly body: OperatorInviteRequest;
      readonly answers: {
        readonly "application/json": OperatorInvitation;
      };
    };
  };
  readonly "/operator/operators/{id}/revoke": {
    /** Revoke an operator. */
    readonly POST: {
      readonly params: {
        /** The `opr_` id */
        readonly id: string;
      };
      readonly body: ReasonRequest;
      readonly answers: {
        readonly "application/json": Operator;
      };
    };
  };
  readonly "/operator/operators/{id}/role": {
    /** Change an operator's role. */
    readonly PUT: {
      readonly params: {
        /** The `opr_` id */
        readonly id: string;
      };
      readonly body: RoleRequest;
      readonly answers: {
        readonly "application/json": Operator;
      };
    };
  };
  readonly "/operator/overview": {
    /** Read what the gateway did, and what waits. */
    readonly GET: {
      readonly query?: {
        /** RFC 3339, inclusive; a day before `to` by default */
        readonly from?: Timestamp | Date;
        /** RFC 3339, exclusive; now by default */
        readonly to?: Timestamp | Date;
      };
      readonly answers: {
        readonly "application/json": Overview;
      };
    };
  };
  readonly "/operator/providers": {
    /** List the providers as they are configured. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": { readonly data: readonly OperatedProvider[] };
      };
    };
  };
  readonly "/operator/providers/{id}": {
    /** Read a provider as it is configured. */
    readonly GET: {
      readonly params: {
        /** The provider's id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": OperatedProvider;
      };
    };
    /** Add or replace a provider. */
    readonly PUT: {
      readonly params: {
        /** The provider's id */
        readonly id: string;
      };
      readonly ifMatch?: string;
      readonly body: PutProviderRequest;
      readonly answers: {
        readonly "application/json": OperatedProvider | Asked;
      };
    };
  };
  readonly "/operator/providers/{id}/disable": {
    /** Disable a provider. */
    readonly POST: {
      readonly params: {
        /** The provider's id */
        readonly id: string;
      };
      readonly body: ReasonRequest;
      readonly answers: {
        readonly "application/json": OperatedProvider;
      };
    };
  };
  readonly "/operator/providers/{id}/enable": {
    /** Enable a provider. */
    readonly POST: {
      readonly params: {
        /** The provider's id */
        readonly id: string;
      };
      readonly body: ReasonRequest;
      readonly answers: {
        readonly "application/json": OperatedProvider | Asked;
      };
    };
  };
  readonly "/operator/providers/{id}/maintenance": {
    /** Put a provider into maintenance. */
    readonly POST: {
      readonly params: {
        /** The provider's id */
        readonly id: string;
      };
      readonly body: ReasonRequest;
      readonly answers: {
        readonly "application/json": OperatedProvider;
      };
    };
  };
  readonly "/operator/providers/{id}/positions": {
    /** Read what was paid through a provider. */
    readonly GET: {
      readonly params: {
        /** The provider's id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": { readonly data: readonly Position[] };
      };
    };
  };
  readonly "/operator/quality/summary": {
    /** Summarise what devices of all clients measured. */
    readonly GET: {
      readonly query: {
        /** What was measured */
        readonly metric: string;
        /** `live` by default */
        readonly environment?: Environment;
        /** RFC 3339, inclusive; the hour counts. Seven days before `to` by default, at most 92 */
        readonly from?: Timestamp | Date;
        /** RFC 3339, exclusive; a begun hour counts. Now by default */
        readonly to?: Timestamp | Date;
        /** What tells groups apart: up to two. One group by default */
        readonly by?: ("hour" | "day" | "app_version" | "os" | "network" | "provider") | readonly ("hour" | "day" | "app_version" | "os" | "network" | "provider")[];
      };
      readonly answers: {
        readonly "application/json": QualitySummary;
      };
    };
  };
  readonly "/operator/reconciliations": {
    /** List what was compared, newest first. */
    readonly GET: {
      readonly query?: {
        /** Only statements of this provider */
        readonly provider?: string;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<Reconciliation>;
      };
    };
    /** Send a provider's statement and compare it with the settlements. */
    readonly POST: {
      readonly query: {
        /** The provider's id */
        readonly provider: string;
        /** The name of the file, for people */
        readonly file?: string;
        /** Compare a file again that was compared before */
        readonly again?: boolean;
      };
      readonly body: string;
      readonly contentType: "application/json" | "application/xml" | "text/csv" | "text/xml";
      readonly answers: {
        readonly "application/json": Reconciliation;
      };
    };
  };
  readonly "/operator/reconciliations/{id}": {
    /** Read what was compared. */
    readonly GET: {
      readonly params: {
        /** The `rec_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Reconciliation;
        readonly "text/html": string;
      };
    };
  };
  readonly "/operator/reconciliations/{id}/findings": {
    /** List what a comparison found, in the order of the statement's lines. */
    readonly GET: {
      readonly params: {
        /** The `rec_` id */
        readonly id: string;
      };
      readonly query?: {
        /** Only findings of this kind */
        readonly kind?: FindingKind;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<StatementFinding>;
        readonly "text/csv": string;
      };
    };
  };
  readonly "/operator/reviews": {
    /** List what waits for a person, the longest due first. */
    readonly GET: {
      readonly query?: {
        /** Also what was put off */
        readonly all?: boolean;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<Review>;
      };
    };
  };
  readonly "/operator/reviews/{id}": {
    /** Read everything that is known about what waits. */
    readonly GET: {
      readonly params: {
        /** The review's id: that of the settlement, with a dot and the reversal's number if it is about one */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Case;
      };
    };
  };
  readonly "/operator/reviews/{id}/ask": {
    /** Ask the provider now about what waits. */
    readonly POST: {
      readonly params: {
        /** The review's id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Case;
      };
    };
  };
  readonly "/operator/reviews/{id}/resolve": {
    /** Decide about what waits. */
    readonly POST: {
      readonly params: {
        /** The review's id */
        readonly id: string;
      };
      readonly body: ResolveReviewRequest;
      readonly answers: {
        readonly "application/json": Case | Asked;
      };
    };
  };
  readonly "/operator/routes": {
    /** Read the table of routes. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": OperatedRoutes;
      };
    };
    /** Replace the table of routes. */
    readonly PUT: {
      readonly ifMatch: string;
      readonly body: PutRoutesRequest;
      readonly answers: {
        readonly "application/json": OperatedRoutes | Asked;
      };
    };
  };
  readonly "/operator/routes/explain": {
    /** Explain where a payment would go. */
    readonly POST: {
      readonly query?: {
        /** With the terms of this client */
        readonly client?: string;
      };
      readonly body: CreateRequest;
      readonly answers: {
        readonly "application/json": Explain;
      };
    };
  };
  readonly "/operator/settings": {
    /** Read the settings that operators act under. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": OperatorSettings;
      };
    };
  };
  readonly "/operator/settlements": {
    /** List the settlements of all clients, newest first. */
    readonly GET: {
      readonly query?: {
        /** Any of these statuses; may appear more than once. */
        readonly status?: SettlementStatus | readonly SettlementStatus[];
        /** ISO 4217 code. */
        readonly currency?: string;
        /** The provider's id. */
        readonly provider?: string;
        /** The client's own name for the end user who pays. */
        readonly user?: string;
        /** The participant who is paid. */
        readonly to?: string;
        /** The client's reference. */
        readonly reference?: string;
        /** `true` for sandbox settlements, `false` for live ones. */
        readonly sandbox?: boolean;
        /** RFC 3339, inclusive. */
        readonly created_from?: Timestamp | Date;
        /** RFC 3339, exclusive. */
        readonly created_to?: Timestamp | Date;
        /** Decimal, inclusive. */
        readonly min_amount?: AmountInput;
        /** Decimal, inclusive. */
        readonly max_amount?: AmountInput;
        /** Flagged for review by a person. */
        readonly needs_review?: boolean;
        /** Only payments by the client, or only payments to it; without it, both. */
        readonly direction?: Direction;
        /** Only those of this client */
        readonly client?: string;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<Settlement>;
      };
    };
  };
  readonly "/operator/settlements/export": {
    /** Export the settlements of all clients as CSV or NDJSON. */
    readonly GET: {
      readonly query?: {
        /** Any of these statuses; may appear more than once. */
        readonly status?: SettlementStatus | readonly SettlementStatus[];
        /** ISO 4217 code. */
        readonly currency?: string;
        /** The provider's id. */
        readonly provider?: string;
        /** The client's own name for the end user who pays. */
        readonly user?: string;
        /** The participant who is paid. */
        readonly to?: string;
        /** The client's reference. */
        readonly reference?: string;
        /** `true` for sandbox settlements, `false` for live ones. */
        readonly sandbox?: boolean;
        /** RFC 3339, inclusive. */
        readonly created_from?: Timestamp | Date;
        /** RFC 3339, exclusive. */
        readonly created_to?: Timestamp | Date;
        /** Decimal, inclusive. */
        readonly min_amount?: AmountInput;
        /** Decimal, inclusive. */
        readonly max_amount?: AmountInput;
        /** Flagged for review by a person. */
        readonly needs_review?: boolean;
        /** Only payments by the client, or only payments to it; without it, both. */
        readonly direction?: Direction;
        /** Only those of this client */
        readonly client?: string;
      };
      readonly answers: {
        readonly "application/x-ndjson": string;
        readonly "text/csv": string;
      };
    };
  };
  readonly "/operator/settlements/{id}": {
    /** Read everything about a settlement of any client. */
    readonly GET: {
      readonly params: {
        /** The `stl_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Case;
      };
    };
  };
  readonly "/providers": {
    /** List the providers. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": { readonly data: readonly Provider[] };
      };
    };
  };
  readonly "/providers/{id}": {
    /** Read a provider. */
    readonly GET: {
      readonly params: {
        /** The provider's id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Provider;
      };
    };
  };
  readonly "/simulator/clock": {
    /** Read the clock of the caller's sandbox. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": Clock;
      };
    };
    /** Stop the clock of the caller's sandbox, let it run, or put it ahead. */
    readonly PUT: {
      readonly body: ClockChange;
      readonly answers: {
        readonly "application/json": Clock;
      };
    };
  };
  readonly "/simulator/faults": {
    /** Read the faults of the caller's sandbox. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": Faults;
      };
    };
    /** Make the simulated operator fail. */
    readonly PUT: {
      readonly body: FaultsRequest;
      readonly answers: {
        readonly "application/json": Faults;
      };
    };
  };
  readonly "/simulator/fund": {
    /** Add play money to a sandbox account. */
    readonly POST: {
      readonly body: FundRequest;
      readonly answers: {
        readonly "application/json": Balance;
      };
    };
  };
  readonly "/simulator/reset": {
    /** Start the sandbox again. */
    readonly POST: {
      readonly body?: ResetRequest;
      readonly answers: {
        readonly "application/json": ResetResult;
      };
    };
  };
  readonly "/simulator/scenarios": {
    /** List the scenarios of the sandbox's simulated operator. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": { readonly data: readonly Scenario[] };
      };
    };
  };
  readonly "/simulator/settlements/{ref}/advance": {
    /** Decide what becomes of a settlement of the sandbox. */
    readonly POST: {
      readonly params: {
        /** The client's reference, or the `stl_` id */
        readonly ref: string;
      };
      readonly body: AdvanceRequest;
      readonly answers: {
        readonly "application/json": Settlement;
      };
    };
  };
  readonly "/webhooks": {
    /** List the client's webhooks, oldest first. */
    readonly GET: {
      readonly answers: {
        readonly "application/json": { readonly data: readonly Webhook[] };
      };
    };
    /** Create a webhook. */
    readonly POST: {
      readonly body: WebhookRequest;
      readonly answers: {
        readonly "application/json": Webhook;
      };
    };
  };
  readonly "/webhooks/{id}": {
    /** Remove a webhook. */
    readonly DELETE: {
      readonly params: {
        /** The `whk_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": undefined;
      };
    };
    /** Read a webhook. */
    readonly GET: {
      readonly params: {
        /** The `whk_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Webhook;
      };
    };
    /** Change a webhook. */
    readonly PATCH: {
      readonly params: {
        /** The `whk_` id */
        readonly id: string;
      };
      readonly body: WebhookPatch;
      readonly answers: {
        readonly "application/json": Webhook;
      };
    };
  };
  readonly "/webhooks/{id}/deliveries": {
    /** List a webhook's deliveries, newest first. */
    readonly GET: {
      readonly params: {
        /** The `whk_` id */
        readonly id: string;
      };
      readonly query?: {
        /** Only deliveries with this status */
        readonly status?: DeliveryStatus;
        /** Only deliveries of events of this settlement: your reference, or the `stl_` id */
        readonly settlement?: string;
        /** Page size, 50 by default */
        readonly limit?: number;
        /** `next_cursor` of the previous page */
        readonly cursor?: string;
      };
      readonly answers: {
        readonly "application/json": Page<Delivery>;
      };
    };
  };
  readonly "/webhooks/{id}/deliveries/{delivery}": {
    /** Read a delivery. */
    readonly GET: {
      readonly params: {
        /** The `whk_` id */
        readonly id: string;
        /** The `dlv_` id */
        readonly delivery: string;
      };
      readonly answers: {
        readonly "application/json": Delivery;
      };
    };
  };
  readonly "/webhooks/{id}/deliveries/{delivery}/redeliver": {
    /** Repeat a delivery. */
    readonly POST: {
      readonly params: {
        /** The `whk_` id */
        readonly id: string;
        /** The `dlv_` id */
        readonly delivery: string;
      };
      readonly answers: {
        readonly "application/json": Delivery;
      };
    };
  };
  readonly "/webhooks/{id}/enable": {
    /** Enable a webhook again. */
    readonly POST: {
      readonly params: {
        /** The `whk_` id */
        readonly id: string;
      };
      readonly answers: {
        readonly "application/json": Webhook;
      };
    };
  };
  readonly "/webhooks/{id}/replay": {
    /** Deliver the events of a period again. */
    readonly POST: {
      readonly params: {
        /** The `whk_` id */
        readonly id: string;
      };
      readonly body: ReplayRequest;
      readonly answers: {
        readonly "application/json": Replay;
      };
    };
  };
  readonly "/webhooks/{id}/rotate-secret": {
    /** Give a webhook a new secret. */
    readonly POST: {
      readonly params: {
        /** The `whk_` id */
        readonly id: string;
      };
      readonly body?: SecretRotation;
      readonly answers: {
        readonly "application/json": Webhook;
      };
    };
  };
  readonly "/webhooks/{id}/test": {
    /** Send a test to a webhook. */
    readonly POST: {
      readonly params: {
        /** The `whk_` id */
        readonly id: string;
      };
      readonly body?: WebhookTestRequest;
      readonly answers: {
        readonly "application/json": WebhookTest;
      };
    };
  };
}
