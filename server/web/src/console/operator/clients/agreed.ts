/** What is in force for a client where a request would replace it. */

import type { Json, JsonObject, OperatorAct, Operators } from "railgate/client";

type Client = Operators.ClientDetail;

/** What sessions of a client may sign in a mode. */
export function signedBySessions({ terms }: Client, mode: "live" | "sandbox"): string {
  return terms.session_signatures?.[mode] ?? (mode === "live" ? "reads" : "all");
}

function limitsOf({ terms }: Client, { mode, currency }: JsonObject): JsonObject {
  const found = (terms.limits ?? []).find((one) => one.mode === mode && one.currency === currency);
  const { min = null, max = null, daily_value = null, daily_count = null } = (found ?? {}) as unknown as JsonObject;
  return { min, max, daily_value, daily_count };
}

/** The floor is the credit with a sign; it is that of real money. */
function floorOf({ balances }: Client, request: JsonObject): string {
  const { credit = "0" } = balances.find(({ currency, sandbox }) => currency === request["currency"] && !sandbox) ?? {};
  return /^[0.]*$/.test(credit) ? "0" : `-${credit}`;
}

/** The members of the request of an act that replace something, as they are now; nothing for an act that replaces nothing of a client. */
export function agreedNow(act: OperatorAct, client: Client, request: JsonObject): Readonly<Record<string, Json>> {
  switch (act) {
    case "set_limits":
      return limitsOf(client, request);
    case "set_fees":
      return { fees: (client.terms.fees ?? []) as unknown as Json };
    case "set_floor":
      return { amount: floorOf(client, request) };
    case "set_session_signatures":
      return { session_signatures: signedBySessions(client, request["mode"] as "live" | "sandbox") };
    default:
      return {};
  }
}
