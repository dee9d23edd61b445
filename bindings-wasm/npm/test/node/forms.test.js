import assert from "node:assert/strict";
import test from "node:test";
import { loadForms, problemsByField } from "railgate/forms";

const GOOD = { amount: "10.50", currency: "EUR", to: "sim:ok", reference: "inv-1" };

test("a good draft is the request to send", async () => {
  const forms = await loadForms();
  assert.deepEqual(forms.check(GOOD), { ok: true, request: GOOD, problems: [] });
  const numbers = { ...GOOD, amount: 10.5, metadata: { order: "7" }, expires_at: "2030-01-01T00:00:00Z" };
  assert.deepEqual(forms.check(numbers, new Date("2029-01-01")), { ok: true, request: numbers, problems: [] });
});

test("everything that is wrong is told at once, with its pointer", async () => {
  const forms = await loadForms();
  const checked = forms.check({ amount: "10.505", currency: "EUR", to: "nobody", colour: "red", metadata: { "a/b": 7 } });
  assert.equal(checked.ok, false);
  const told = checked.problems.map(({ pointer, code }) => [pointer, code]);
  assert.deepEqual(told.toSorted?.() ?? [...told].sort(), [
    ["/amount", "amount_scale"],
    ["/colour", "unknown_field"],
    ["/metadata/a~1b", "wrong_type"],
    ["/reference", "required"],
    ["/to", "participant_malformed"],
  ]);
  for (const problem of checked.problems) assert.match(problem.message, /^[a-z].*\w/);
});

test("problems go beside their fields, the first of each", () => {
  const problem = (pointer, code = "x") => ({ pointer, code, message: "m" });
  const fields = problemsByField([problem("/amount", "first"), problem("/amount", "second"), problem("/metadata/a~1b"), problem(""), problem("/a~1b~01")]);
  assert.deepEqual([...fields.keys()], ["amount", "metadata", "", "a/b~1"]);
  assert.equal(fields.get("amount").code, "first");
});

test("the clock decides about expires_at", async () => {
  const forms = await loadForms();
  const draft = { ...GOOD, expires_at: "2030-01-01T00:00:00Z" };
  assert.equal(forms.check(draft, Date.parse("2029-12-31")).ok, true);
  assert.equal(forms.check(draft, Date.parse("2030-01-02")).ok, false);
});

test("wrong types are a TypeError, and odd values of fields are problems", async () => {
  const forms = await loadForms();
  for (const draft of [undefined, null, "x", 7, [], () => 1]) assert.throws(() => forms.check(draft), TypeError);
  assert.throws(() => forms.check(GOOD, "now"), TypeError);
  for (const amount of [null, true, [], {}, Number.NaN, 1e21, -1, "1e3", "٣", ""]) {
    const checked = forms.check({ ...GOOD, amount });
    assert.deepEqual([checked.ok, checked.problems[0]?.pointer], [false, "/amount"], String(amount));
  }
});
