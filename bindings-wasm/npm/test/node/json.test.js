import assert from "node:assert/strict";
import test from "node:test";
import { parseView } from "../../dist/json.js";

test("amounts keep the text that they had on the wire", () => {
  const text = '{"amount":12.50,"fee": 0.00,"total_debit" : 1000000.000,"reversed_amount":0,"version":3,"data":[{"available":-0.10}]}';
  assert.deepEqual(parseView(text), {
    amount: "12.50",
    fee: "0.00",
    total_debit: "1000000.000",
    reversed_amount: "0",
    version: 3,
    data: [{ available: "-0.10" }],
  });
});

test("the credit before a change of it is an amount", () => {
  const text = '{"kind":"credit_line","amount":100.00,"previous":0.00,"sequence":1}';
  assert.deepEqual(parseView(text), { kind: "credit_line", amount: "100.00", previous: "0.00", sequence: 1 });
});

test("the fees and limits of a provider are amounts, its success rate is a number", () => {
  const text = '{"limits":{"KES":{"min":10.00,"max":null}},"fees":[{"flat":5,"percent":0.5,"tiers":[{"from":100.00}]}],"success_rate":0.98}';
  assert.deepEqual(parseView(text), {
    limits: { KES: { min: "10.00", max: null } },
    fees: [{ flat: "5", percent: "0.5", tiers: [{ from: "100.00" }] }],
    success_rate: 0.98,
  });
  assert.deepEqual(parseView('{"from":"accepted"}'), { from: "accepted" });
});

test("what only looks like an amount stays as it is", () => {
  const inside = {
    description: '"amount":12.50, \\"fee\\": 1',
    metadata: { amount: "7.00", 'a": 1, "fee': "x", "\\": '"fee":1.50' },
    amount: null,
  };
  assert.deepEqual(parseView(JSON.stringify(inside)), inside);
  assert.deepEqual(parseView('{"amounts":1.50,"pending":true,"ledger":[1.50],"x":"amount"}'), {
    amounts: 1.5,
    pending: true,
    ledger: [1.5],
    x: "amount",
  });
});

test("any JSON means what it means to JSON.parse, but for amounts", () => {
  for (const value of [null, 1.5, "a\\\"b", [], {}, [[["\\\\"]]], { "": { '"': '\\"' } }, "\u2028é😀", { amount: { amount: "1" } }]) {
    assert.deepEqual(parseView(JSON.stringify(value)), value);
  }
});

test("a text that is no JSON is refused, and a long one is read in one go", () => {
  for (const text of ["", "{", '{"amount":12.5.0}'.replace("12.5.0", "12.50,"), "{'a':1}"]) assert.throws(() => parseView(text), SyntaxError);
  const long = { description: '\\"'.repeat(500_000), amount: "1" };
  assert.deepEqual(parseView(JSON.stringify(long)), long);
});
