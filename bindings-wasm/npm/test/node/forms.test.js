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

test("an empty field is a missing one, and what is optional is left out", async () => {
  const forms = await loadForms();
  const empty = { amount: "", currency: "", to: "", reference: "", description: "", provider: "", expires_at: "" };
  const told = forms.check(empty).problems.map(({ pointer, code, payerMessage }) => [pointer, code, payerMessage]);
  assert.deepEqual(told, [
    ["/amount", "required", "Enter an amount."],
    ["/currency", "required", "Choose a currency."],
    ["/to", "required", "Enter who receives the money."],
    ["/reference", "required", "Enter a reference."],
  ]);
  assert.deepEqual(forms.check({ ...GOOD, description: "", provider: "" }), { ok: true, request: GOOD, problems: [] });
});

test("an amount as people type it is answered with the one that they mean", async () => {
  const forms = await loadForms();
  const found = (amount) => forms.check({ ...GOOD, amount }).problems[0];
  for (const [typed, nearest] of [["1,50", "1.50"], ["€5", "5"], [" 5", "5"], ["1.000,50", "1000.50"]]) {
    const { code, message, params, payerMessage } = found(typed);
    assert.deepEqual([code, params.nearest, payerMessage], ["amount_malformed", nearest, `Enter the amount as ${nearest}.`]);
    assert.ok(message.endsWith(`: write ${nearest}`), message);
  }
  assert.equal(found("1,000").payerMessage, "Enter the amount without a comma.");
  assert.deepEqual([found("1.505").params, found("1.505").payerMessage], [{ max: "2" }, "Enter at most 2 decimals."]);
  const yen = forms.check({ ...GOOD, amount: "10.5", currency: "JPY" }).problems[0];
  assert.deepEqual([yen.params, yen.payerMessage], [{ max: "0" }, "Enter a whole amount: this currency has no decimals."]);
});

test("a scenario that does not exist is refused, with the nearest", async () => {
  const forms = await loadForms();
  const [problem] = forms.check({ ...GOOD, to: "sim:declined" }).problems;
  assert.deepEqual([problem.pointer, problem.code, problem.params.nearest], ["/to", "participant_scenario_unknown", "sim:decline-other"]);
  assert.equal(problem.payerMessage, "There is no test payment of that name. Did you mean sim:decline-other?");
});

test("payers read their own language, or texts of the page's own", async () => {
  const told = async (options) => (await loadForms(options)).check({ ...GOOD, amount: "1.505" }).problems[0].payerMessage;
  assert.equal(await told({ locale: "fr-CM" }), "Saisissez au plus 2 décimales.");
  assert.equal(await told({ locale: "sw_KE" }), "Weka tarakimu zisizozidi 2 baada ya nukta.");
  for (const locale of ["en-GB", "xx", "constructor", ""]) assert.equal(await told({ locale }), "Enter at most 2 decimals.");
  assert.equal(await told({ locale: "fr", messages: { amount_scale: "Höchstens {max} Stellen." } }), "Höchstens 2 Stellen.");
  const forms = await loadForms({ locale: "fr" });
  assert.equal(forms.payerMessage({ pointer: "/amount", code: "insufficient_funds", message: "m" }), "Votre solde ne suffit pas pour ce paiement.");
  assert.equal(forms.payerMessage({ pointer: "/x", code: "of_a_newer_server", message: "m" }), "Vérifiez ce champ.");
  assert.equal(forms.payerMessage({ pointer: "/amount", code: "amount_digits", message: "m" }), "Vérifiez ce champ.", "a text that lacks its value");
});

test("a time may be a Date", async () => {
  const forms = await loadForms();
  const expires_at = new Date("2030-01-01T00:00:00Z");
  assert.equal(forms.check({ ...GOOD, expires_at }, Date.parse("2029-12-31")).request.expires_at, "2030-01-01T00:00:00.000Z");
  assert.equal(forms.check({ ...GOOD, expires_at }, Date.parse("2030-12-31")).problems[0].code, "expires_in_past");
  assert.deepEqual(forms.check({ ...GOOD, expires_at: new Date(Number.NaN) }).problems[0].code, "time_malformed");
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
