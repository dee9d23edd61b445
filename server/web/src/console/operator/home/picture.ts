/** What the first page shows, read in one go. */

import type { Operators } from "railgate/client";
import { api } from "../../session";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A few of each are shown; of more, there is a list. */
const FEW = 3;
/** More than that many are "50 or more". */
const COUNTED = 50;

/** Some of a list, and whether there are more. */
export interface Some<T> {
  readonly data: readonly T[];
  readonly more: boolean;
}

export interface Picture {
  readonly now: Operators.Overview;
  /** The same hours a week before. */
  readonly before: Operators.Overview;
  readonly approvals: Some<Operators.Approval>;
  readonly reviews: Some<Operators.Review>;
  /** Clients that ask for live access. */
  readonly clients: Some<Operators.Client>;
  /** Bundles that nobody reviews yet. */
  readonly bundles: Some<Operators.BundleSummary>;
  readonly providers: readonly Operators.OperatedProvider[];
  /** How many settlements are unknown, and how many not final, that were created before `oldBefore`. */
  readonly unknown: Some<unknown>;
  readonly open: Some<unknown>;
  readonly oldBefore: string;
}

const some = <T>({ data, has_more }: { data: readonly T[]; has_more: boolean }): Some<T> => ({ data, more: has_more });

let kept: { readonly hour: number; readonly by: unknown; readonly read: Promise<Operators.Overview> } | undefined;

/** The same hours a week before, read once an hour: they hardly change any more, and count as much work as today's. */
function weekBefore(now: number): Promise<Operators.Overview> {
  const [hour, by] = [Math.floor(now / HOUR_MS), api.value];
  if (kept?.hour !== hour || kept.by !== by) {
    const read = by.call("GET", "/operator/overview", { query: { from: new Date(now - 8 * DAY_MS), to: new Date(now - 7 * DAY_MS) } });
    read.catch(() => {
      if (kept?.read === read) kept = undefined;
    });
    kept = { hour, by, read };
  }
  return kept.read;
}

export async function readPicture(signal: AbortSignal): Promise<Picture> {
  const now = Date.now();
  const oldBefore = new Date(now - HOUR_MS);
  const call = api.value;
  const old = { created_to: oldBefore, limit: COUNTED };
  const [overview, before, approvals, reviews, clients, bundles, providers, unknown, open] = await Promise.all([
    call.call("GET", "/operator/overview", { signal }),
    weekBefore(now),
    call.call("GET", "/operator/approvals", { query: { status: "pending", limit: FEW }, signal }),
    call.call("GET", "/operator/reviews", { query: { limit: FEW }, signal }),
    call.call("GET", "/operator/clients", { query: { pending: true, limit: FEW }, signal }),
    call.call("GET", "/operator/bundles", { query: { status: "submitted", limit: FEW }, signal }),
    call.call("GET", "/operator/providers", { signal }),
    call.call("GET", "/operator/settlements", { query: { ...old, status: "unknown" }, signal }),
    call.call("GET", "/operator/settlements", { query: { ...old, status: ["accepted", "submitted"] }, signal }),
  ]);
  return {
    now: overview,
    before,
    approvals: some(approvals),
    reviews: some(reviews),
    clients: some(clients),
    bundles: some(bundles),
    providers: providers.data,
    unknown: some(unknown),
    open: some(open),
    oldBefore: oldBefore.toISOString(),
  };
}
