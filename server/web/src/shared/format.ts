/** Numbers, amounts and times as the reader's locale writes them. Amounts are decimal texts and never become floats. */

import { formatMoney } from "railgate/money";
import { capital } from "./capital";

const locales = navigator.languages;

const cached = <K, V>(make: (key: K) => V): ((key: K) => V) => {
  const known = new Map<K, V>();
  return (key) => {
    const found = known.get(key) ?? make(key);
    known.set(key, found);
    return found;
  };
};

const decimalsOf = cached(
  (currency: string) => new Intl.NumberFormat(locales, { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 0,
);

/** An amount with its currency: every digit that it has, and the currency's decimals if somebody left them out. */
export function money(amount: string, currency: string): string {
  const [whole = "", decimals = ""] = amount.split(".");
  const padded = decimals.padEnd(decimalsOf(currency), "0");
  return formatMoney(padded === "" ? whole : `${whole}.${padded}`, currency, { locale: locales, currencyDisplay: "code" });
}

/** The same of what somebody is typing, or left open: as it is while it is no amount, or has no currency. */
export function typedMoney(amount: string, currency: string): string {
  const isComplete = /^-?\d{1,30}(\.\d{1,12})?$/.test(amount) && /^[A-Z]{3}$/.test(currency);
  return isComplete ? money(amount, currency) : `${amount || "…"} ${currency}`.trimEnd();
}

const counts = new Intl.NumberFormat(locales);
export const count = (value: number): string => counts.format(value);

const percents = new Intl.NumberFormat(locales, { style: "percent", maximumFractionDigits: 1 });
/** A share of 1 as a percentage. */
export const percent = (share: number): string => percents.format(share);

const unitOf = cached(
  (unit: string) => new Intl.NumberFormat(locales, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 1 }),
);

/** A duration in the largest unit that fits. */
export function duration(ms: number): string {
  const steps = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
    [1_000, "second"],
  ] as const;
  for (const [size, unit] of steps) if (Math.abs(ms) >= size) return unitOf(unit).format(ms / size);
  return unitOf("millisecond").format(Math.round(ms));
}

const moments = new Intl.DateTimeFormat(locales, { dateStyle: "medium", timeStyle: "medium" });
const days = new Intl.DateTimeFormat(locales, { dateStyle: "medium" });
const hours = new Intl.DateTimeFormat(locales, { hour: "numeric", minute: "2-digit" });
const agos = new Intl.RelativeTimeFormat(locales, { numeric: "auto", style: "short" });

/** A time in the reader's zone. */
export const moment = (at: string | Date): string => moments.format(new Date(at));
export const day = (at: string | Date): string => days.format(new Date(at));
export const hour = (at: string | Date): string => hours.format(new Date(at));
const dates = new Intl.DateTimeFormat(locales, { dateStyle: "medium", timeZone: "UTC" });
/** A date without a time, which is of no zone; a time like any other. */
export const date = (at: string): string => (at.length > "2026-01-01".length ? moment(at) : dates.format(new Date(at)));
/** The same time in UTC, for those who compare with a log. */
export const utc = (at: string | Date): string =>
  `${new Date(at)
    .toISOString()
    .replace("T", " ")
    .replace(/\.(\d+)Z$/, ".$1")} UTC`;

/** A name of the interface as words: `suspend_client` is "Suspend client". */
export const worded = (name: string): string => capital(name.replaceAll("_", " "));

/** JSON in lines that a person can read; any other text as it is. */
export function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/** How far a time is from now, in the largest unit that fits. */
export function ago(at: string | Date, now: number): string {
  const seconds = (new Date(at).getTime() - now) / 1_000;
  const steps = [
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
  ] as const;
  for (const [size, unit] of steps) if (Math.abs(seconds) >= size) return agos.format(Math.trunc(seconds / size), unit);
  return agos.format(Math.trunc(seconds), "second");
}
