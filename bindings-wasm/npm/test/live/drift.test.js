// The types of this package match the server's: names, members, values, codes.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import * as railgate from "railgate/client";
import { baseUrl } from "./server.js";

const { components } = await (await fetch(`${baseUrl}/openapi.json`)).json();
const declared = await readFile(new URL("../../dist/types.d.ts", import.meta.url), "utf8");

/** The names in the OpenAPI document, and here. */
const VALUES = {
  Actor: railgate.ACTORS,
  EventType: railgate.EVENT_TYPES,
  FailureCode: railgate.FAILURE_CODES,
  PayeeMatch: railgate.PAYEE_MATCHES,
  ReversalReason: railgate.REVERSAL_REASONS,
  ReversalStatus: railgate.REVERSAL_STATUSES,
  SettlementStatus: railgate.SETTLEMENT_STATUSES,
  StateName: [...railgate.SETTLEMENT_STATUSES, "started", "declined", "not_sent"],
};
const VIEWS = {
  BalanceView: "Balance",
  Capabilities: "Capabilities",
  CheckView: "CheckResult",
  CreateBody: "CreateRequest",
  EventView: "EventOf",
  FailureView: "Failure",
  FeedEventView: "FeedEvent",
  FeeTierView: "FeeTier",
  FeeView: "FeeRule",
  FeedPage: "FeedPage",
  FieldProblem: "FieldProblem",
  FindingView: "Finding",
  KeyView: "Key",
  LimitView: "AmountLimits",
  LinksView: "SettlementLinks",
  Page_SettlementView: "Page",
  PayeeView: "Payee",
  Problem: "Problem",
  ProviderView: "Provider",
  QuoteView: "Quote",
  ReceiptView: "Receipt",
  ReconcileView: "ReconcileResult",
  ReversalView: "Reversal",
  ReverseBody: "ReverseRequest",
  ReverseView: "ReverseResult",
  ScenarioView: "Scenario",
  SettlementView: "Settlement",
  StatusView: "StatusView",
  AnswerDetails: "AnswerDetails",
  OutcomeDetails: "OutcomeDetails",
  WebhookView: "Webhook",
  DeliveryView: "Delivery",
  EntryView: "StatementEntry",
  ProofView: "ReceiptProof",
  Trace: "ReceiptTrace",
};

function members(name) {
  const body = new RegExp(`export interface ${name}(?:<[^{]*>)? \\{([^]*?)\\n\\}`).exec(declared)?.[1];
  assert.ok(body !== undefined, `${name} is not declared`);
  return [...body.matchAll(/^ {4}readonly (\w+)\??:/gm)].map(([, member]) => member).sort();
}

for (const [schema, values] of Object.entries(VALUES)) {
  test(`the values of ${schema}`, () => assert.deepEqual([...values], components.schemas[schema].enum));
}

for (const [schema, name] of Object.entries(VIEWS)) {
  test(`the members of ${name}`, () => assert.deepEqual(members(name), Object.keys(components.schemas[schema].properties).sort()));
}

test("the codes of errors, in their order", async () => {
  const source = await readFile(new URL("../../../../core/src/error.rs", import.meta.url), "utf8");
  const codes = [...source.matchAll(/^ {4}\w+ = "(\w+)", \d{3}, /gm)].map(([, code]) => code);
  assert.deepEqual([...railgate.GATEWAY_CODES], codes);
});
