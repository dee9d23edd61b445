import assert from "node:assert/strict";
import test from "node:test";
import { formatMoney } from "railgate/money";

test("amounts are written as the reader's locale does, with all their digits", () => {
  const plain = (text) => text.replaceAll(/[\u00a0\u202f]/g, " ").replaceAll(/[\u200e\u200f\u061c]/g, "");
  const cases = [
    ["1234.50", "EUR", { locale: "en" }, "€1,234.50"],
    ["1234.50", "EUR", { locale: "de" }, "1.234,50 €"],
    ["1234.50", "EUR", { locale: "fr" }, "1 234,50 €"],
    ["1500", "JPY", { locale: "ja" }, "¥1,500"],
    ["0.125", "KWD", { locale: "en", currencyDisplay: "code" }, "KWD 0.125"],
    ["-10.50", "USD", { locale: "en" }, "-$10.50"],
    ["10.50", "KES", { locale: "en", currencyDisplay: "name" }, "10.50 Kenyan shillings"],
    ["10.50", "EUR", { locale: ["xx-invalid-tag-that-none-knows".slice(0, 2), "de"] }, "10,50 €"],
    ["999999999999999999.99", "EUR", { locale: "en" }, "€999,999,999,999,999,999.99"],
  ];
  for (const [amount, currency, options, expected] of cases) {
    const written = plain(formatMoney(amount, currency, options)).replace("￥", "¥");
    assert.equal(written, expected, `${amount} ${currency} ${JSON.stringify(options)}`);
    assert.equal(formatMoney(amount, currency, options), formatMoney(amount, currency, options));
  }
  assert.equal(typeof formatMoney("1.00", "EUR"), "string");
});

test("what is no amount is refused", () => {
  for (const amount of ["", " 1", "1,50", "1e3", "€5", ".5", "5.", "NaN", 5, null, undefined]) {
    assert.throws(() => formatMoney(amount, "EUR"), TypeError, String(amount));
  }
  assert.throws(() => formatMoney("1", "EURO"), RangeError);
});
