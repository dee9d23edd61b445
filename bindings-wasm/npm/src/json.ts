/**
 * JSON with exact amounts.
 *
* The interface writes amounts as JSON numbers (`10.50`), which a JavaScript number does not preserve exactly. Here they
 * become strings with the text from the wire; everything else is as `JSON.parse` returns it.
 *
 * @module
 */

/** The members that are amounts or figures of a summary, in all views. */
const MONEY: ReadonlySet<string> = new Set([
  "amount",
  "fee",
  "fee_refunded",
  "total_debit",
  "reversed_amount",
  "reversing_amount",
  "available",
  "credit",
  "previous",
  "reserved",
  "pending",
  "balance",
  "ledger",
  "flat",
  "percent",
  "min",
  "max",
  "daily_value",
  "approval_over",
  "from",
  "value",
  "succeeded_value",
  "posted",
  "mean",
  "p50",
  "p95",
  "p99",
]);

/**
* A string and, if it is the name of a member with a numeric value, that value. Strings are matched as a whole, so that text
 * inside one is never mistaken for a member.
 */
const STRING = /"([^"\\]*(?:\\.[^"\\]*)*)"(?:([ \t\r\n]*:[ \t\r\n]*)(-?[0-9][0-9.eE+-]*))?/gs;

/** Parses a response, with its amounts as strings. Throws a `SyntaxError` if the text is not JSON. */
export function parseView(text: string): unknown {
  const exact = text.replace(STRING, (all, name: string, colon: string | undefined, number: string | undefined) =>
    number !== undefined && MONEY.has(name) ? `"${name}"${colon ?? ":"}"${number}"` : all,
  );
  return JSON.parse(exact);
}
