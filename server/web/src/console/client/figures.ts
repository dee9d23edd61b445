/** What settlements add up to: counts, success, and how long they take. */

import type { Settlement } from "railgate/client";
import { sum } from "../../shared/decimal";
import { isPaid } from "../settlements/paid";

/** Figures of some settlements. */
export interface Figures {
  readonly count: number;
  readonly paid: number;
  readonly failed: number;
  /** Of those that ended, 0 to 1; none if none ended. */
  readonly success: number | undefined;
  /** From creation to completion, in milliseconds. */
  readonly p50: number | undefined;
  readonly p95: number | undefined;
}

/** How a settlement counts. A reversed or returned one was paid first. */
export function outcome(settlement: Settlement): "paid" | "failed" | "open" | "cancelled" {
  const { status } = settlement;
  if (isPaid(settlement)) return "paid";
  if (status === "failed" || status === "cancelled") return status;
  return "open";
}

function quantile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)];
}

export function figuresOf(settlements: readonly Settlement[]): Figures {
  const outcomes = settlements.map(outcome);
  const paid = outcomes.filter((one) => one === "paid").length;
  const failed = outcomes.filter((one) => one === "failed").length;
  const taken = settlements
    .filter(isPaid)
    .flatMap(({ created_at, completed_at }) => (completed_at === null ? [] : [Date.parse(completed_at) - Date.parse(created_at)]))
    .sort((a, b) => a - b);
  const ended = paid + failed;
  return {
    count: settlements.length,
    paid,
    failed,
    success: ended === 0 ? undefined : paid / ended,
    p50: quantile(taken, 0.5),
    p95: quantile(taken, 0.95),
  };
}

/** Settlements by a member of theirs, the largest group first. */
export function groups(settlements: readonly Settlement[], by: (settlement: Settlement) => string): [string, Settlement[]][] {
  const found = new Map<string, Settlement[]>();
  for (const one of settlements) {
    const name = by(one);
    const group = found.get(name);
    if (group === undefined) found.set(name, [one]);
    else group.push(one);
  }
  return [...found].sort(([, a], [, b]) => b.length - a.length);
}

/** The value of those that were paid; all are of one currency. */
export const valueOf = (settlements: readonly Settlement[]): string =>
  sum(settlements.filter((one) => outcome(one) === "paid").map(({ amount }) => amount));
