/** Which acts a second operator has to confirm: the gateway's settings say so, and each act says it before it is done. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Operators, RailgateError } from "railgate/client";
import { text } from "../../shared/text";
import { api, session } from "../session";

const words = text.operator.who;

/** The acts that the settings name; `alone` is none of them. */
export type Rule = "money" | "access" | "outcome" | "provider" | "routes" | "terms" | "alone";

const rules = signal<Operators.FourEyes | undefined>(undefined);
/** Whose gateway they are of. */
let readFor: unknown;

async function readRules(): Promise<void> {
  const reader = api.value;
  readFor = reader;
  try {
    rules.value = (await reader.call("GET", "/operator/settings")).four_eyes;
  } catch (error) {
    // Without the settings, an act says what is not known; the gateway decides in any case.
    if (!(error instanceof RailgateError)) throw error;
    readFor = undefined;
  }
}

/** Who confirms an act, for an outcome with the amount that it is about. */
export function useWho(rule: Rule, amount = "0"): string {
  const reader = session.value?.api;
  useEffect(() => {
    if (reader !== undefined && reader !== readFor) void readRules();
  }, [reader]);
  if (rule === "alone") return words.alone;
  const known = rules.value;
  if (known === undefined) return words.unknown;
  if (!known[rule]) return words.alone;
  if (rule !== "outcome") return words.other;
  return Number(amount) >= known.outcome_from ? words.otherFrom(known.outcome_from) : words.aloneBelow(known.outcome_from);
}
