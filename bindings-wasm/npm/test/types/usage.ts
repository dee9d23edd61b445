// Correct TypeScript code must compile, wrong code must not. Nothing here runs.
import { Sandbox, type Gateway as SandboxGateway } from "railgate";
import {
  RailgateClient,
  RailgateError,
  type Delivery,
  type ErrorCode,
  type FailureCode,
  type Gateway,
  type JsonObject,
  type Operators,
  type Page,
  type Reversal,
  type Routes,
  type Settlement,
  type SettlementEvent,
  type SettlementStatus,
  type CreateRequest,
  type StatementEntry,
} from "railgate/client";
import { loadForms, type Checked } from "railgate/forms";
import { qrSvg } from "railgate/qr";
import { ReceiptError, verifyReceipt } from "railgate/receipt";
import {
  WebhookVerifier,
  type BalanceData,
  type BalanceEventType,
  type EventType,
  type Webhook,
  type WebhookData,
  type WebhookMessage,
} from "railgate/webhook";

/** Fails to compile if `Actual` is wider or narrower. */
type Same<Actual, Expected> = [Actual] extends [Expected] ? ([Expected] extends [Actual] ? true : never) : never;
const yes = <_ extends true>(): void => undefined;

export async function pays(client: RailgateClient): Promise<void> {
  const request: CreateRequest = { amount: "10.50", currency: "EUR", to: "sim:ok", reference: "inv-1" };
  const { settlement } = await client.create({ ...request, amount: 10.5 }, { signal: AbortSignal.timeout(1000), waitS: 5 });
  yes<Same<typeof settlement, Settlement>>();
  yes<Same<typeof settlement.amount, string>>();
  for await (const event of client.follow("inv-1")) {
    if (event.type === "settlement.completed") break;
    // @ts-expect-error: no such type of event
    if (event.type === "settlement.done") break;
  }
  await client.create({ ...request, expires_at: new Date() });
  await client.list({ created_from: new Date(), created_to: "2030-01-01T00:00:00Z" });
  // @ts-expect-error: no such state
  await client.list({ status: "done" });
  // @ts-expect-error: a reference is missing
  await client.create({ amount: "1", currency: "EUR", to: "sim:ok" });
  // @ts-expect-error: no such member
  await client.create({ ...request, colour: "red" });
  // @ts-expect-error: views do not change
  settlement.amount = "1";
  // @ts-expect-error: no such reason
  await client.reverse("inv-1", { reason: "mood" });
}

/** All states are handled: a new one would not compile here. */
export function colour(status: SettlementStatus): "green" | "amber" | "red" {
  switch (status) {
    case "completed":
    case "partially_reversed":
    case "reversed":
      return "green";
    case "accepted":
    case "submitted":
    case "unknown":
      return "amber";
    case "failed":
    case "cancelled":
    case "returned":
      return "red";
  }
}

export async function checks(): Promise<void> {
  const forms = await loadForms();
  // @ts-expect-error: a request has no colour
  forms.check({ amount: "1", colour: "red" });
  const typed: Readonly<Record<string, string>> = {};
  forms.check(typed);
  const checked: Checked = forms.check({ amount: "1", expires_at: new Date() });
  if (checked.ok) yes<Same<typeof checked.request, CreateRequest>>();
  else yes<Same<(typeof checked.problems)[number]["pointer"], string>>();
  // @ts-expect-error: an invalid draft has no request
  if (!checked.ok) checked.request;
}

/** Until its type is known, a webhook may be about any of them. */
export function shows(message: WebhookMessage): string {
  // @ts-expect-error: a webhook has no reference
  message.data.reference;
  // @ts-expect-error: money that was moved has no id
  message.data.id;
  return message.id;
}

export async function verifies(request: Request): Promise<string> {
  using webhooks = await WebhookVerifier.open(["whsec_", "whsec_"]);
  const { type, data } = await webhooks.verifyRequest(request);
  // @ts-expect-error: no such type
  if (type === "x") return "";
  if (type === "webhook.disabled") {
    yes<Same<typeof data, Webhook>>();
    // @ts-expect-error: it is about a webhook
    data.reference;
    return data.url;
  }
  if (type === "balance.deposited" || type === "balance.withdrawn" || type === "balance.credit_changed") {
    yes<Same<typeof data, BalanceData>>();
    const previous: string | undefined = data.previous;
    return `${data.kind} ${data.amount} ${data.currency} ${previous ?? ""}`;
  }
  yes<Same<typeof type, Exclude<EventType, BalanceEventType>>>();
  const settlement: WebhookData = data;
  try {
    await verifyReceipt(settlement.id, { keys: [] });
  } catch (error) {
    if (error instanceof ReceiptError) return error.code;
    if (error instanceof RailgateError && error.code === "internal") return error.errors.map(({ pointer }) => pointer).join();
  }
  // @ts-expect-error: text
  await verifyReceipt(7, { keys: [] });
  return qrSvg("x");
}

/** A program takes either; both have every member with the same parameters. */
export async function swaps(server: RailgateClient, sandbox: Sandbox): Promise<void> {
  const gateways: readonly Gateway[] = [server, sandbox];
  yes<Same<Gateway, SandboxGateway>>();
  // What both have and the interface does not name would be a gap in it.
  yes<Same<Exclude<keyof Sandbox & keyof RailgateClient, keyof Gateway>, never>>();
  type Takes<G extends Gateway> = { [K in keyof Gateway]: Parameters<G[K]> };
  yes<Same<Omit<Takes<RailgateClient>, "receiptAs">, Omit<Takes<Gateway>, "receiptAs">>>();
  yes<Same<Takes<Sandbox>, Takes<Gateway>>>();
  for (const gateway of gateways) {
    const page = await gateway.list({ status: "unknown", created_from: new Date() });
    yes<Same<typeof page, Page<Settlement>>>();
    for await (const settlement of gateway.list()) yes<Same<typeof settlement, Settlement>>();
    const reversal = await gateway.reversed("inv-1", "back-1");
    yes<Same<typeof reversal, Reversal>>();
    await gateway.settled("inv-1", { reversals: true });
  }
}

/** Every call is known by its path, with what it takes and returns. */
export async function calls(client: RailgateClient): Promise<void> {
  const { data } = await client.call("GET", "/webhooks");
  yes<Same<typeof data, readonly Webhook[]>>();
  const webhook = await client.webhooks.create({ url: "https://shop.example.com", events: ["settlement.completed"] });
  yes<Same<typeof webhook, Webhook>>();
  for await (const delivery of client.webhooks.deliveries("whk_1", { status: "failed" })) yes<Same<typeof delivery, Delivery>>();
  for await (const settlement of client.export({ currency: "EUR" })) yes<Same<typeof settlement, Settlement>>();
  for await (const entry of client.statement("EUR")) yes<Same<typeof entry, StatementEntry>>();
  const pdf = await client.receiptAs("inv-1", "application/pdf");
  yes<Same<typeof pdf, Uint8Array>>();
  const page = await client.receiptAs("inv-1", "text/html");
  yes<Same<typeof page, string>>();
  const csv = await client.call("GET", "/gateway/settlements/export", { accept: "text/csv" });
  yes<Same<typeof csv, string>>();
  const nothing = await client.call("DELETE", "/webhooks/{id}", { params: { id: "whk_1" } });
  yes<Same<typeof nothing, undefined>>();
  const made = await client.call("POST", "/operator/clients/{id}/deposits", {
    params: { id: "cli_1" },
    body: { amount: "2500.00", currency: "EUR", evidence: "statement 7", reference: "wire-7" },
  });
  if ("approval" in made) yes<Same<typeof made, Operators.Asked>>();
  else yes<Same<typeof made, Operators.Movement>>();
  for await (const act of client.all("/operator/audit", { query: { client: "cli_1" } })) yes<Same<typeof act, Operators.Audit>>();
  const approval = await client.call("GET", "/operator/approvals/{id}", { params: { id: "apr_1" } });
  yes<Same<typeof approval, Operators.Approval>>();
  // @ts-expect-error: no such path
  await client.call("GET", "/nowhere");
  // @ts-expect-error: it has no such method
  await client.call("DELETE", "/webhooks");
  // @ts-expect-error: which one?
  await client.call("GET", "/webhooks/{id}");
  // @ts-expect-error: which one?
  await client.call("GET", "/webhooks/{id}", { params: {} });
  // @ts-expect-error: it needs a body
  await client.call("POST", "/webhooks");
  // @ts-expect-error: no such parameter
  await client.call("GET", "/gateway/settlements", { query: { colour: "red" } });
  // @ts-expect-error: no such form
  await client.call("GET", "/webhooks", { accept: "text/csv" });
  // @ts-expect-error: it has no JSON, so the form must be named
  await client.call("GET", "/log/checkpoint");
  // @ts-expect-error: a list without pages
  client.all("/webhooks");
  // @ts-expect-error: no such type of event
  await client.webhooks.create({ url: "https://shop.example.com", events: ["settlement.done"] });
}

/** The members of a call's answers, in every form. */
type AnswersOf<P extends keyof Routes> = { [M in keyof Routes[P]]: Routes[P][M] extends { readonly answers: infer A } ? A[keyof A] : never }[keyof Routes[P]];
/** The paths with an answer that is not known. */
type Untyped = { [P in keyof Routes]: unknown extends AnswersOf<P> ? P : never }[keyof Routes];
yes<Same<Untyped, never>>();

/** The type of an event tells what its data is. */
export function tells(event: SettlementEvent): string {
  // @ts-expect-error: until the type is known, there may be no reversal
  event.data.reversal;
  switch (event.type) {
    case "settlement.accepted":
      return `${event.data.amount} ${event.data.currency} to ${event.data.to}, fee ${event.data.fee}`;
    case "attempt.started":
      return event.data.provider;
    case "attempt.answered":
      yes<Same<typeof event.data.code, FailureCode | undefined>>();
      return event.data.answer;
    case "reversal.accepted":
      return event.data.reversal;
    case "balance.credit_changed":
      return event.data.credit.previous;
    case "balance.deposited":
    case "balance.withdrawn":
      return event.data.movement.amount;
    default:
      // @ts-expect-error: these have no provider
      event.data.provider;
      return event.type;
  }
}

/** A code that this version does not know is one, too. */
export function knows(code: ErrorCode): JsonObject {
  switch (code) {
    case "insufficient_funds":
    case "connection_lost":
      return { code };
    default:
      return { other: code };
  }
}
