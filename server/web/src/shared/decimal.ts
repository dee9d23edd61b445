/** Exact sums of decimal texts with the same decimals, as amounts of one currency have. */

const minor = (amount: string): bigint => BigInt(amount.replace(".", ""));

function decimal(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const sign = value < 0n ? "-" : "";
  return decimals === 0 ? sign + whole : `${sign}${whole}.${digits.slice(-decimals)}`;
}

const decimalsOf = (amount: string): number => amount.split(".")[1]?.length ?? 0;

/** `first` less all others. */
export function minus(first: string, ...others: readonly string[]): string {
  return decimal(
    others.reduce((rest, other) => rest - minor(other), minor(first)),
    decimalsOf(first),
  );
}

/** The sum of amounts; `0` of none. */
export function sum(amounts: readonly string[]): string {
  const first = amounts[0];
  if (first === undefined) return "0";
  return decimal(
    amounts.reduce((all, amount) => all + minor(amount), 0n),
    decimalsOf(first),
  );
}

/**
 * The number that somebody typed. What is none stays the text that it is: `null` would be an empty field, which lifts a limit, but the
 * gateway refuses a text and says where.
 */
export function typedNumber(typed: string): number {
  const text = typed.trim();
  return (/^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text) as number;
}
