/**
 * JSON with exact amounts.
 *
 * The interface writes amounts as JSON numbers (`10.50`), which a JavaScript number cannot keep as they are. Here they
 * become strings, with the text that was on the wire; everything else is what `JSON.parse` makes of it.
 *
 * @module
 */

/** The members of all views that hold amounts as JSON numbers. */
const MONEY: ReadonlySet<string> = new Set([
  "amount",
  "fee",
  "total_debit",
  "reversed_amount",
  "reversing_amount",
  "available",
  "reserved",
  "pending",
  "ledger",
]);

/**
 * A string and, where it is the name of a member with a number, that number. Strings are taken whole, so that what stands
 * inside of one is never mistaken for a member.
 */
const STRING = /"([^"\\]*(?:\\.[^"\\]*)*)"(?:([ \t\r\n]*:[ \t\r\n]*)(-?[0-9][0-9.eE+-]*))?/gs;

/** Reads an answer, with its amounts as strings. Throws a `SyntaxError` where the text is no JSON. */
export function parseView(text: string): unknown {
  const exact = text.replace(STRING, (all, name: string, colon: string | undefined, number: string | undefined) =>
    number !== undefined && MONEY.has(name) ? `"${name}"${colon ?? ":"}"${number}"` : all,
  );
  return JSON.parse(exact);
}
