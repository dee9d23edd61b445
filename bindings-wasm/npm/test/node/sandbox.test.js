// The sandbox as used in Node: in memory, not shared.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { getEventListeners } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  BusinessRuleError,
  DisposedError,
  EventWatch,
  NotFoundError,
  RailgateError,
  Sandbox,
  StorageError,
  ValidationError,
} from "railgate";

const START = Date.UTC(2026, 10, 21, 10, 38, 17, 42);
const draft = (more) => ({ amount: "10.50", currency: "EUR", to: "sim:ok", reference: "inv-1", ...more });

async function opened(t) {
  const sandbox = await Sandbox.open();
  t.after(() => sandbox.close());
  return sandbox;
}

const fixed = (seed = 7) => Sandbox.open({ seed: new Uint8Array(32).fill(seed), now: () => START });

test("a payment runs its whole course: check, create, status, events, receipt, reversal, balance", async (t) => {
  const sandbox = await opened(t);
  const before = await sandbox.balance("EUR");
  const checked = await sandbox.check(draft());
  assert.deepEqual([checked.ok, checked.quote.total_debit, checked.payee.match], [true, "10.50", "match"]);
  const { settlement, replayed } = await sandbox.create(draft({ amount: 10.5, metadata: { order: "7" } }));
  assert.deepEqual([settlement.status, settlement.amount, settlement.metadata, replayed], ["accepted", "10.50", { order: "7" }, false]);
  assert.equal((await sandbox.settled("inv-1")).status, "completed");
  const { data: events } = await sandbox.events(settlement.id);
  assert.deepEqual(
    events.map(({ type }) => type),
    ["settlement.accepted", "settlement.submitted", "attempt.started", "attempt.answered", "settlement.completed"],
  );
  assert.deepEqual((await sandbox.events("inv-1", { after: 3, limit: 1 })).data, [events[3]]);
  const receipt = await sandbox.receipt("inv-1");
  assert.deepEqual([receipt.amount, receipt.trace.head], ["10.50", events.at(-1).hash]);
  assert.equal(await sandbox.receiptAs("inv-1", "application/jose"), receipt.jws);
  assert.match(await sandbox.receiptAs("inv-1", "text/html"), /<html/);
  assert.ok((await sandbox.jwks()).keys.some(({ kid }) => kid === receipt.key_id));
  const { reversal } = await sandbox.reverse("inv-1", { amount: "0.50", reason: "customer_request" });
  assert.deepEqual([reversal.amount, reversal.reason], ["0.50", "customer_request"]);
  assert.deepEqual(await sandbox.reversal("inv-1", reversal.id), (await sandbox.reversals("inv-1"))[0]);
  assert.deepEqual([(await sandbox.get("inv-1")).status, (await sandbox.get("inv-1")).reversed_amount], ["partially_reversed", "0.50"]);
  assert.equal((await sandbox.reconcile("inv-1")).consistent, true);
  const spent = Math.round((Number(before.available) - Number((await sandbox.balance("EUR")).available)) * 100);
  assert.equal(spent, 1000);
  assert.ok((await sandbox.balances()).some(({ currency }) => currency === "EUR"));
  const funded = await sandbox.fund({ amount: "5.25", currency: "EUR" });
  assert.equal(funded.available, (await sandbox.balance("EUR")).available);
});

test("the same request again is the same settlement; another one under its reference is refused", async (t) => {
  const sandbox = await opened(t);
  const first = await sandbox.create(draft());
  const again = await sandbox.create(draft({ amount: 10.5 }));
  assert.deepEqual([again.replayed, again.settlement.id], [true, first.settlement.id]);
  await assert.rejects(
    sandbox.create(draft({ amount: "11" })),
    (error) => error instanceof BusinessRuleError && error.code === "reference_conflict" && !error.retryable,
  );
});

test("everything that is wrong is told at once, with pointers", async (t) => {
  const sandbox = await opened(t);
  const wrong = { amount: 1e21, currency: "EURO", to: "nowhere", reference: "a b", colour: "red" };
  await assert.rejects(sandbox.create(wrong), (error) => {
    assert.ok(error instanceof ValidationError && error instanceof RailgateError && error instanceof Error);
    assert.equal(error.code, "invalid_fields");
    assert.deepEqual(error.errors.map(({ pointer }) => pointer).sort(), ["/amount", "/colour", "/currency", "/reference", "/to"]);
    return true;
  });
  const { ok, problems } = await sandbox.check(draft({ amount: "0.001" }));
  assert.deepEqual([ok, problems.map(({ code }) => code)], [false, ["amount_scale"]]);
  await assert.rejects(sandbox.get("missing"), (error) => error instanceof NotFoundError && error.status === 404);
});

test("the simulator shows how things go wrong, and the clock need not be waited for", async (t) => {
  const sandbox = await opened(t);
  const scenarios = await sandbox.scenarios();
  assert.ok(scenarios.length >= 15 && scenarios.every(({ to, description }) => to.startsWith("sim:") && description.length > 0));
  const pay = async (to) => (await sandbox.create(draft({ to, reference: to.replaceAll(":", "-") }))).settlement.reference;
  const references = await Promise.all(
    ["sim:slow-30s", "sim:decline-recipient_not_found", "sim:timeout-then-ok", "sim:failover", "sim:returned-after-1d"].map(pay),
  );
  const statuses = async () => (await Promise.all(references.map((reference) => sandbox.status(reference)))).map(({ status }) => status);
  assert.deepEqual(await statuses(), ["submitted", "failed", "unknown", "completed", "completed"]);
  assert.equal((await sandbox.status("sim-decline-recipient_not_found")).failure.iso_reason, "AC03");
  assert.equal((await sandbox.clock()).ahead_ms, 0);
  const clock = await sandbox.setClock({ advance_ms: 60_000 });
  assert.equal(clock.ahead_ms, 60_000);
  assert.deepEqual(await statuses(), ["completed", "failed", "completed", "completed", "completed"]);
  await sandbox.setClock({ advance_ms: 86_400_000 });
  assert.equal((await statuses())[4], "returned");
  assert.equal((await sandbox.setClock({ frozen: true })).frozen, true);
});

test("lists are filtered and paged", async (t) => {
  const sandbox = await opened(t);
  await Promise.all(
    Array.from({ length: 7 }, (_, i) => sandbox.create(draft({ reference: `inv-${i}`, to: i % 2 ? "sim:pending" : "sim:ok" }))),
  );
  const references = [];
  for (let cursor; ;) {
    const page = await sandbox.list({ limit: 3, ...(cursor && { cursor }) });
    references.push(...page.data.map(({ reference }) => reference));
    assert.equal(page.has_more, page.next_cursor !== null);
    if (!page.has_more) break;
    cursor = page.next_cursor;
  }
  assert.deepEqual(references, ["inv-6", "inv-5", "inv-4", "inv-3", "inv-2", "inv-1", "inv-0"]);
  const pending = await sandbox.list({ status: ["submitted", "unknown"], min_amount: "10.50", sandbox: true });
  assert.deepEqual(
    pending.data.map(({ reference }) => reference),
    ["inv-5", "inv-3", "inv-1"],
  );
  await assert.rejects(sandbox.list({ cursor: "nonsense" }), { code: "invalid_cursor" });
});

test("following gives every event in order, of all settlements or of one, and ends when it is told to", async (t) => {
  const sandbox = await opened(t);
  const all = sandbox.followFeed();
  assert.ok(all instanceof EventWatch);
  await sandbox.create(draft({ reference: "a" }));
  await sandbox.create(draft({ reference: "b" }));
  await sandbox.settled("b");
  const seen = [];
  for await (const { position, event } of all) {
    seen.push([position, event.reference]);
    if (seen.length === 10) break;
  }
  assert.deepEqual(
    seen.map(([position]) => position),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
  assert.deepEqual(new Set(seen.map(([, reference]) => reference)), new Set(["a", "b"]));
  assert.deepEqual(await all.next(), { done: true, value: undefined });
  const types = [];
  for await (const { type } of sandbox.follow("b")) {
    types.push(type);
    if (type === "settlement.completed") break;
  }
  for await (const { sequence } of sandbox.follow("b", { after: 4 })) {
    assert.equal(sequence, 5);
    break;
  }
  await assert.rejects(sandbox.follow("nobody").next(), { code: "settlement_not_found" });
  assert.deepEqual(types, ["settlement.accepted", "settlement.submitted", "attempt.started", "attempt.answered", "settlement.completed"]);
  const waiting = sandbox.followFeed({ after: 1000 });
  const next = waiting.next();
  await waiting.return();
  assert.deepEqual(await next, { done: true, value: undefined });
});

test("a signal ends a watch, in the oldest Node, too, and is let go of when the watch ends first", async (t) => {
  const { any } = AbortSignal;
  t.after(() => (AbortSignal.any = any));
  AbortSignal.any = undefined;
  const sandbox = await opened(t);
  const ended = new AbortController();
  const listeners = () => getEventListeners(ended.signal, "abort").length;
  const first = sandbox.followFeed({ signal: ended.signal });
  await sandbox.create(draft());
  assert.equal((await first.next()).value.position, 1);
  await first.return();
  assert.equal(listeners(), 0);
  const waiting = sandbox.followFeed({ after: 1000, signal: ended.signal });
  const next = waiting.next();
  ended.abort(new Error("enough"));
  await assert.rejects(next, { message: "enough" });
  assert.equal(listeners(), 0);
  assert.deepEqual(await waiting.next(), { done: true, value: undefined });
  await assert.rejects(sandbox.followFeed({ signal: ended.signal }).next(), { message: "enough" });
});

test("the same seed and clock give the same bytes; another seed gives others", async () => {
  const run = async (seed) => {
    const sandbox = await fixed(seed);
    await sandbox.create(draft());
    await sandbox.create(draft({ reference: "inv-2", to: "sim:timeout-then-ok" }));
    const seen = JSON.stringify([await sandbox.list(), await sandbox.feed(), await sandbox.jwks(), await sandbox.receipt("inv-1")]);
    await sandbox.close();
    return seen;
  };
  const first = await run(7);
  assert.equal(await run(7), first);
  assert.notEqual(await run(8), first);
});

test("a clock may show fractions; one that shows no number is told", async (t) => {
  let time = START + 0.75;
  const sandbox = await Sandbox.open({ now: () => time });
  t.after(() => sandbox.close());
  assert.equal((await sandbox.create(draft())).settlement.created_at, new Date(START).toISOString());
  time = "soon";
  await assert.rejects(sandbox.get("inv-1"), TypeError);
  time = START + 5;
  assert.equal((await sandbox.get("inv-1")).status, "completed");
});

test("the operator does as it is told, fails on request, and everything can start again", async (t) => {
  const sandbox = await opened(t);
  await sandbox.create(draft({ to: "sim:pending" }));
  const failed = await sandbox.advance("inv-1", { to: "failed", code: "account_closed" });
  assert.deepEqual([failed.status, failed.failure.code], ["failed", "account_closed"]);
  await assert.rejects(
    sandbox.advance("inv-1", { to: "completed" }),
    (error) => error instanceof BusinessRuleError && error.code === "invalid_state",
  );
  assert.deepEqual(await sandbox.setFaults({ drop_answer_rate: 1, seed: 7 }), { rate: 0, latency_ms: 0, drop_answer_rate: 1, seed: 7 });
  await sandbox.create(draft({ reference: "inv-2" }));
  assert.equal((await sandbox.status("inv-2")).status, "unknown");
  assert.deepEqual(await sandbox.reset(), { ended: 1, still_open: 0, next_cursor: null });
  assert.equal((await sandbox.faults()).drop_answer_rate, 0);
  assert.deepEqual([(await sandbox.status("inv-2")).status, (await sandbox.balance("EUR")).available], ["failed", "1000000.00"]);
});

test("a payment waits for its user, who decides on a device", async (t) => {
  const sandbox = await opened(t);
  const { code, link } = await sandbox.enrollmentCode({ user: "customer-17", limits: [{ currency: "EUR", approval_over: 100 }] });
  assert.equal(link, `railgate:enroll?code=${code}`);
  const phone = await sandbox.enrollDevice(code, { platform: "web", name: "Ada's phone" });
  const watch = await sandbox.enrollDevice((await sandbox.enrollmentCode({ user: "customer-17" })).code, { platform: "wear" });
  await assert.rejects(sandbox.enrollDevice(code, { platform: "web" }), { code: "device_code_invalid" });
  assert.deepEqual((await sandbox.devices("customer-17")).map(({ id }) => id), [phone.id, watch.id]);
  assert.deepEqual((await sandbox.users()).data.map(({ user }) => user), ["customer-17"]);
  await sandbox.create(draft({ amount: "250.00", reference: "rent", user: "customer-17" }));
  const [onPhone, onWatch] = [sandbox.onDevice(phone.id), sandbox.onDevice(watch.id)];
  const [waiting] = await onPhone.paymentApprovals();
  assert.deepEqual([waiting.reference, waiting.status, waiting.approval.status], ["rent", "accepted", "pending"]);
  await assert.rejects(onPhone.approve({ ...waiting, amount: "25.00" }), ValidationError);
  await onPhone.approve(waiting);
  await assert.rejects(onWatch.decline(waiting), /approved on the device Ada's phone/);
  assert.equal((await onPhone.settled("rent")).status, "completed");
  const { settlement: shoes } = await onWatch.create(draft({ amount: "120.00", reference: "shoes" }));
  assert.equal((await onPhone.decline(shoes, "too dear")).status, "cancelled");
  assert.equal((await onPhone.paymentApproval(shoes.id)).approval.status, "declined");
  await sandbox.create(draft({ reference: "own" }));
  assert.deepEqual((await onPhone.list()).data.map(({ reference }) => reference), ["shoes", "rent"]);
  await assert.rejects(onPhone.get("own"), NotFoundError);
  await assert.rejects(onPhone.balances(), ValidationError, "a device sees no balances");
  await assert.rejects(sandbox.paymentApprovals(), ValidationError, "a client approves nothing");
  assert.equal((await onPhone.renameDevice(phone.id, "old")).name, "old");
  await onPhone.revokeDevice(watch.id);
  await assert.rejects(onWatch.paymentApprovals(), { code: "key_revoked" });
  assert.equal((await sandbox.putUser("customer-17", { status: "blocked" })).status, "blocked");
  await assert.rejects(onPhone.paymentApprovals(), { code: "user_blocked" });
  await onPhone.close();
  assert.equal((await sandbox.user("customer-17")).status, "blocked", "the sandbox stays open");
  assert.equal((await sandbox.device(phone.id)).user, "customer-17");
});

test("docs/mobile.md does what it says without a server", async (t) => {
  const sandbox = await opened(t);
  const page = readFileSync(new URL("../../../../docs/mobile.md", import.meta.url), "utf8");
  const [, program] = /## Without a server[^]*?```js\n([^]*?)```/.exec(page);
  const AsyncFunction = (async () => {}).constructor;
  await new AsyncFunction("sandbox", program)(sandbox);
  assert.equal((await sandbox.settled("order-2")).status, "completed");
});

test("arguments of a wrong type are a TypeError that names them, before anything happens", async (t) => {
  const sandbox = await opened(t);
  const calls = {
    ref: [
      () => sandbox.get(42),
      () => sandbox.status(null),
      async () => sandbox.events({}),
      async () => sandbox.follow(""),
      () => sandbox.reverse(undefined),
      () => sandbox.receipt([]),
      () => sandbox.settled(""),
      () => sandbox.advance(7, { to: "completed" }),
    ],
    request: [
      () => sandbox.create("text"),
      () => sandbox.create(null),
      () => sandbox.check(),
      () => sandbox.reverse("a", 5),
      () => sandbox.fund([]),
      () => sandbox.advance("a", "completed"),
      () => sandbox.setFaults(null),
    ],
    filter: [async () => sandbox.list(7), async () => sandbox.list([])],
    requests: [() => sandbox.createBatch(draft()), () => sandbox.createBatch([7])],
    options: [() => Sandbox.open("memory"), async () => sandbox.feed("x"), async () => sandbox.events("a", 3), () => sandbox.create(draft(), { waitS: -1 }), () => sandbox.reverse("a", {}, { idempotencyKey: "é" })],
    signal: [() => Sandbox.open({ signal: 5 }), () => sandbox.get("a", { signal: {} }), async () => sandbox.followFeed({ signal: "now" })],
    after: [async () => sandbox.followFeed({ after: -1 }), async () => sandbox.followFeed({ after: "1" })],
    change: [() => sandbox.setClock(30)],
    seed: [() => Sandbox.open({ seed: new Uint8Array(31) }), () => Sandbox.open({ seed: "x" })],
    storage: [() => Sandbox.open({ storage: "disk" })],
    name: [() => Sandbox.open({ name: "" }), () => Sandbox.erase(5)],
    now: [() => Sandbox.open({ now: 5 })],
  };
  for (const [name, wrong] of Object.entries(calls)) {
    for (const call of wrong)
      await assert.rejects(call, (error) => error instanceof TypeError && error.message.startsWith(name), `${name}: ${call}`);
  }
  assert.deepEqual((await sandbox.list()).data, []);
});

test("what is disposed of says so", async () => {
  const sandbox = await Sandbox.open();
  const watch = sandbox.followFeed();
  const ended = assert.rejects(watch.next(), DisposedError);
  const asked = sandbox.create(draft());
  sandbox[Symbol.dispose]();
  assert.equal((await asked).settlement.status, "accepted");
  await ended;
  for (const call of [() => sandbox.get("inv-1"), () => sandbox.create(draft()), async () => sandbox.followFeed(), async () => sandbox.leads])
    await assert.rejects(call, DisposedError);
  await sandbox.close();
});

test("a signal that is given up ends the waiting, not the sandbox", async (t) => {
  const sandbox = await opened(t);
  const reason = new Error("enough");
  await assert.rejects(sandbox.create(draft(), { signal: AbortSignal.abort(reason) }), reason);
  await sandbox.create(draft({ to: "sim:pending" }));
  const giveUp = new AbortController();
  const waiting = sandbox.settled("inv-1", { signal: giveUp.signal });
  giveUp.abort(reason);
  await assert.rejects(waiting, reason);
  assert.equal((await sandbox.get("inv-1")).status, "submitted");
});

test("opening is given up with the signal's reason, also where nothing is waited for", async () => {
  const reason = (options) =>
    Sandbox.open(options).then(
      () => "open",
      (reason) => reason,
    );
  for (const storage of ["memory", "indexeddb"]) {
    assert.equal(await reason({ storage, signal: AbortSignal.abort("stop") }), "stop");
    const later = new AbortController();
    const waiting = reason({ storage, signal: later.signal });
    later.abort("stop");
    assert.equal(await waiting, "stop");
  }
});

test("where there is no IndexedDB, asking for it is refused by name", async () => {
  await assert.rejects(
    Sandbox.open({ storage: "indexeddb" }),
    (error) => error instanceof StorageError && error.code === "storage_unavailable",
  );
  await assert.rejects(Sandbox.erase("x"), (error) => error instanceof StorageError && error.code === "storage_unavailable");
});

test("an open sandbox with tasks to come does not keep a program from ending", () => {
  const program = `import { Sandbox } from "railgate"; const sandbox = await Sandbox.open(); await sandbox.create(${JSON.stringify(draft({ to: "sim:returned-after-1d" }))}); console.log("done");`;
  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    // Less than a day, after which it would end by itself.
    timeout: 3_600_000,
    encoding: "utf8",
  });
  assert.equal(said, "done\n");
});

test("a create waits until its payment is final, but not for ever, and not for a caller who has gone", async (t) => {
  const sandbox = await opened(t);
  const { settlement } = await sandbox.create(draft(), { waitS: 30 });
  assert.equal(settlement.status, "completed");
  const patient = sandbox.create(draft({ reference: "inv-2", to: "sim:pending" }), { waitS: 30 });
  for await (const { event } of sandbox.followFeed()) if (event.reference === "inv-2" && event.type === "attempt.answered") break;
  await sandbox.advance("inv-2", { to: "failed" });
  assert.equal((await patient).settlement.status, "failed");
  const late = await sandbox.create(draft({ reference: "inv-3", to: "sim:pending" }), { waitS: 1 });
  assert.equal(late.settlement.status, "submitted");
  const gone = new AbortController();
  const left = sandbox.create(draft({ reference: "inv-4", to: "sim:pending" }), { waitS: 30, signal: gone.signal });
  for await (const { event } of sandbox.followFeed()) if (event.reference === "inv-4") break;
  gone.abort(new Error("gone"));
  await assert.rejects(left, { message: "gone" });
});

test("a batch pays what is right and says what is wrong, in order", async (t) => {
  const sandbox = await opened(t);
  const results = await sandbox.createBatch([draft(), draft({ reference: "inv-2", currency: "EURO" }), draft(), draft({ amount: 1 })]);
  assert.deepEqual(results.map(({ status }) => status), [201, 422, 200, 409]);
  assert.deepEqual([results[0].settlement.reference, results[1].problem.errors[0].pointer, results[3].problem.code], ["inv-1", "/currency", "reference_conflict"]);
});
