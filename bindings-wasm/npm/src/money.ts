/**
 * Amounts for people, by locale.
 *
 * @module
 */

import * as check from "./check.js";

/** How an amount is written. */
export interface MoneyOptions {
  /** The reader's language and region, such as `de-CH`; by default the environment's. */
  readonly locale?: string | readonly string[];
  /** How the currency is shown: `€` (the default), `EUR`, or `euros`. */
  readonly currencyDisplay?: "symbol" | "narrowSymbol" | "code" | "name";
}

/** Formats are expensive to make and few. */
const formats = new Map<string, Intl.NumberFormat>();

/**
 * Writes an amount as readers of a locale expect it, with the decimals that it has: `formatMoney("1234.50", "EUR", { locale: "de" })` is
 * `1.234,50 €`. No digit is lost, whatever the size.
 *
 * @param amount - The amount as the gateway writes it, such as `10.50`.
 * @param currency - The ISO 4217 code.
 * @throws {TypeError} if the amount is no such text; {RangeError} for a currency or locale that is none.
 */
export function formatMoney(amount: string, currency: string, options: MoneyOptions = {}): string {
  const given = check.text(amount, "amount");
  if (!/^-?\d{1,30}(\.\d{1,12})?$/.test(given)) throw new TypeError(`amount must be a decimal such as 10.50, not ${JSON.stringify(given)}`);
  const { locale, currencyDisplay = "symbol" } = check.object(options, "options") as MoneyOptions;
  const digits = given.split(".")[1]?.length ?? 0;
  const name = JSON.stringify([locale, currency, currencyDisplay, digits]);
  let format = formats.get(name);
  if (format === undefined) {
    const shown = { style: "currency", currency, currencyDisplay, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
    format = new Intl.NumberFormat(locale as string | string[] | undefined, shown);
    if (formats.size < 100) formats.set(name, format);
  }
  // ECMA-402 reads a text as an exact decimal (ES2023).
  return format.format(given as unknown as number);
}
