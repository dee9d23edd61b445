// Correct TypeScript code must compile, wrong code must not. Nothing here runs.
import { RailgateClient, RailgateError, type CreateRequest, type Settlement, type SettlementStatus } from "railgate/client";
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
  yes<Same<Awaited<ReturnType<RailgateClient["call"]>>, unknown>>();
  for await (const event of client.follow("inv-1")) {
    if (event.type === "settlement.completed") break;
    // @ts-expect-error: no such type of event
    if (event.type === "settlement.done") break;
  }
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
