/** The filters of a list of settlements, as the address has them. */

import { type ListFilter, SETTLEMENT_STATUSES, type SettlementStatus } from "railgate/client";

/** The filters that an address may have. */
const NAMES = [
  "status",
  "currency",
  "provider",
  "direction",
  "needs_review",
  "created_from",
  "created_to",
  "min_amount",
  "max_amount",
  "user",
  "reference",
  "to",
  "client",
] as const;
export type FilterName = (typeof NAMES)[number];

/** The filters of an address, as a call takes them. What the interface would not know is left out. */
export function filterOf(query: URLSearchParams): ListFilter & { client?: string } {
  const found: Record<string, unknown> = {};
  for (const name of NAMES) {
    const value = query.get(name);
    if (value === null || value === "" || name === "status") continue;
    if (name === "needs_review") found[name] = value === "true";
    else if (name === "created_from" || name === "created_to") found[name] = new Date(value);
    else found[name] = value;
  }
  const known: readonly string[] = SETTLEMENT_STATUSES;
  const statuses = query.getAll("status").filter((one): one is SettlementStatus => known.includes(one));
  return { ...found, ...(statuses.length > 0 ? { status: statuses } : {}) };
}

/** How many filters an address has. */
export function countOf(query: URLSearchParams): number {
  return NAMES.filter((name) => query.has(name)).length;
}

/** The address without filters. */
export const NO_FILTERS: Readonly<Record<string, string>> = Object.fromEntries(NAMES.map((name) => [name, ""]));

/** What a reader searches for: a settlement by its id, a participant, or a reference. */
export function searchOf(typed: string): { readonly id: string } | Partial<Record<FilterName, string>> {
  const text = typed.trim();
  if (/^stl_[0-9A-Z]{26}$/.test(text)) return { id: text };
  return text.includes(":") ? { to: text, reference: "" } : { reference: text, to: "" };
}
