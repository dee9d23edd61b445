// How calls become groups, and what happens if a group cannot be saved. The gateway here is a counter, so that it can be
// made to fail where a real one would not.

import assert from "node:assert/strict";
import { test } from "node:test";

import { StorageError } from "railgate";

import { Keeper } from "../../dist/sandbox/keeper.js";
import { MemoryStorage } from "../../dist/sandbox/memory.js";
import { seedFor } from "../../dist/sandbox/open.js";

const text = new TextEncoder();

/** Adds numbers up. A journal entry is eight digits; a snapshot is the sum. */
class Counter {
  static opened = 0;
  #sum = 0;
  #news = "";
  constructor(snapshot, journal) {
    Counter.opened += 1;
    if (snapshot !== undefined) this.#sum = Number(new TextDecoder().decode(snapshot));
    const entries = journal === undefined ? "" : new TextDecoder().decode(journal);
    for (let at = 0; at < entries.length; at += 8) this.#sum += Number(entries.slice(at, at + 8));
  }
  call(now, request) {
    const { add, least = 0, note, trap, busy_ms } = JSON.parse(request);
    if (trap) throw new WebAssembly.RuntimeError("unreachable");
    for (const end = performance.now() + (busy_ms ?? 0); performance.now() < end;);
    if (add !== undefined && this.#sum >= least) {
      this.#sum += add;
      this.#news += String(add).padStart(8, "0");
    }
    return JSON.stringify({ sum: this.#sum, note });
  }
  work() {
    return '{"due":null,"done":0}';
  }
  take_journal() {
    const taken = this.#news === "" ? undefined : text.encode(this.#news);
    this.#news = "";
    return taken;
  }
  snapshot() {
    this.#news = "";
    return text.encode(String(this.#sum));
  }
  free() {}
}

/** Counts writes, and fails on demand. */
class Watched extends MemoryStorage {
  groups = [];
  failing;
  /** Writes, but reports a failure. */
  silent = false;
  unreadable;
  held = Promise.resolve();
  async append(group) {
    await this.held;
    const { failing } = this;
    if (failing !== undefined) throw failing;
    this.groups.push(group);
    await super.append(group);
    if (this.silent) throw new StorageError("storage_failed", "gone", { retryable: true });
  }
  async load() {
    if (this.unreadable !== undefined) throw this.unreadable;
    return super.load();
  }
}

async function keeper(storage = new Watched()) {
  let changes = 0;
  const kept = await Keeper.open({
    open: (_seed, _now, snapshot, journal) => new Counter(snapshot, journal),
    storage,
    now: Date.now,
    seed: () => new Uint8Array(32),
    automatic: true,
    changed: () => (changes += 1),
    lost: () => assert.fail("nobody took the storage away"),
  });
  const ask = (request, keep, since) =>
    new Promise((resolve, reject) =>
      kept.submit({
        request: JSON.stringify(request),
        keep,
        since,
        signal: undefined,
        resolve: (answer) => resolve(JSON.parse(answer).sum),
        reject,
      }),
    );
  return { kept, storage, ask, changes: () => changes };
}

/** A page's turn ends by the clock; if the clock is stopped, concurrent calls stay in one group. */
const oneTurn = (t) => t.mock.method(performance, "now", () => 0);

test("calls of one turn become durable together, in their order, in one write", async (t) => {
  oneTurn(t);
  const { storage, ask, changes } = await keeper();
  assert.deepEqual(await Promise.all([ask({ add: 1 }), ask({ add: 2 }), ask({}), ask({ add: 3 })]), [1, 3, 3, 6]);
  assert.deepEqual([storage.groups.length, changes()], [1, 1]);
  assert.deepEqual(await Promise.all([ask({}), ask({})]), [6, 6]);
  assert.deepEqual([storage.groups.length, changes()], [1, 1]);
});

test("a long queue lets the page have its turn between groups", async () => {
  const { storage, ask } = await keeper();
  await Promise.all(Array.from({ length: 8 }, () => ask({ add: 1, busy_ms: 5 })));
  assert.ok(storage.groups.length >= 2 && storage.groups.length <= 8, `${storage.groups.length} groups`);
});

test("nothing is answered while the write is under way, and what comes meanwhile forms the next group", async () => {
  const { storage, ask } = await keeper();
  let letGo;
  storage.held = new Promise((resolve) => (letGo = resolve));
  const order = [];
  const calls = [ask({ add: 1 }).then(() => order.push("first"))];
  await Promise.resolve();
  await Promise.resolve();
  calls.push(
    ask({ add: 1 }).then(() => order.push("second")),
    ask({}).then((sum) => order.push(`read ${sum}`)),
  );
  assert.deepEqual(order, []);
  order.push("let go");
  letGo();
  await Promise.all(calls);
  assert.deepEqual(order, ["let go", "first", "second", "read 2"]);
  assert.equal(storage.groups.length, 2);
});

test("a write that failed is not taken for kept because another tab wrote in its place", async () => {
  const { storage, ask } = await keeper();
  await ask({ add: 5 });
  const other = await keeper(storage);
  // It reloads after the other one has written.
  const { load } = storage;
  storage.load = async () => {
    storage.load = load;
    storage.failing = undefined;
    assert.equal(await other.ask({ add: 100 }), 105);
    return storage.load();
  };
  storage.failing = new StorageError("storage_failed", "gone", { retryable: true });
  await assert.rejects(ask({ add: 2 }), { code: "storage_failed", retryable: true });
  assert.equal(await ask({}), 105);
});

test("when a write fails, memory goes back to what is durable and every caller of the group hears why", async (t) => {
  oneTurn(t);
  const { storage, ask } = await keeper();
  await ask({ add: 5 });
  storage.failing = new StorageError("storage_quota", "full", { retryable: true });
  const failed = await Promise.allSettled([ask({ add: 1 }), ask({})]);
  assert.deepEqual(
    failed.map(({ reason }) => reason),
    [storage.failing, storage.failing],
  );
  storage.failing = undefined;
  assert.equal(await ask({}), 5);
});

test("a write of which no news came is looked for: what was kept is answered, what nobody can tell is called unknown", async () => {
  const { storage, ask } = await keeper();
  storage.silent = true;
  assert.deepEqual(await Promise.all([ask({ add: 5 }), ask({})]), [5, 5]);
  storage.unreadable = new StorageError("storage_failed", "gone", { retryable: true });
  await assert.rejects(
    ask({ add: 1 }),
    (error) => error.code === "outcome_unknown" && !error.retryable && error.cause === storage.unreadable,
  );
  await assert.rejects(ask({}), storage.unreadable);
  storage.unreadable = undefined;
  assert.equal(await ask({}), 6);
});

test("when another tab was faster, the group is carried out anew on what is there; not for ever", async () => {
  const { storage, ask } = await keeper();
  await ask({ add: 5 });
  const conflict = new StorageError("storage_conflict", "late", { retryable: true });
  let times = 0;
  Object.defineProperty(storage, "failing", { get: () => (times++ < 3 ? conflict : undefined), configurable: true });
  assert.deepEqual(await Promise.all([ask({ add: 1 }), ask({})]), [6, 6]);
  Object.defineProperty(storage, "failing", { value: conflict, writable: true });
  await assert.rejects(ask({ add: 1 }), conflict);
  storage.failing = undefined;
  assert.equal(await ask({}), 6);
});

test("a call that makes the gateway crash takes nothing along but itself", async (t) => {
  oneTurn(t);
  const { ask } = await keeper();
  await ask({ add: 5 });
  const opened = Counter.opened;
  const [beside, broken, behind] = await Promise.allSettled([ask({ add: 1 }), ask({ trap: true }), ask({})]);
  assert.deepEqual([beside.reason.code, beside.reason.retryable], ["storage_failed", true]);
  assert.deepEqual([broken.reason.code, broken.reason.retryable], ["internal", false]);
  assert.equal(behind.value, 5);
  assert.equal(Counter.opened, opened + 1);
});

test("an answer that is kept is there again after the next start", async () => {
  const { storage, ask, kept } = await keeper();
  await ask({ add: 5 }, "call-1");
  assert.equal(kept.kept("call-1"), '{"sum":5}');
  await kept.close();
  const next = await keeper(storage);
  assert.equal(next.kept.kept("call-1"), '{"sum":5}');
  assert.equal(next.kept.kept("call-2"), undefined);
  assert.equal(await next.ask({}), 5);
});

test("a call that is asked twice at once is carried out once, and both hear the same", async () => {
  const { storage, ask, kept } = await keeper();
  assert.deepEqual(await Promise.all([ask({ add: 1 }, "c.1"), ask({ add: 1 }, "c.1")]), [1, 1]);
  assert.equal(await ask({}), 1);
  assert.deepEqual(
    storage.groups.flatMap(({ answers }) => answers.map(({ call, answer }) => [call, answer])),
    [["c.1", '{"sum":1}']],
  );
  await kept.close();
});

test("a call that is asked again while it is being written is carried out once, also when it fails", async () => {
  const { storage, ask } = await keeper();
  const twice = async (keep) => {
    let letGo;
    storage.held = new Promise((resolve) => (letGo = resolve));
    const first = ask({ add: 1 }, keep);
    await new Promise((resolve) => setTimeout(resolve));
    const both = Promise.allSettled([first, ask({ add: 1 }, keep)]);
    letGo();
    return both;
  };
  assert.deepEqual(
    (await twice("c.1")).map(({ value }) => value),
    [1, 1],
  );
  // A caller who learns that nothing was saved may retry with another id.
  const full = new StorageError("storage_quota", "full", { retryable: true });
  let failures = 1;
  Object.defineProperty(storage, "failing", { get: () => (failures-- > 0 ? full : undefined) });
  assert.deepEqual(
    (await twice("c.2")).map(({ reason }) => reason),
    [full, full],
  );
  assert.equal(await ask({}), 1);
  assert.equal(await ask({ add: 1 }, "c.2"), 2);
});

test("a call that was asked so long ago that its answer may be forgotten is not carried out again", async (t) => {
  const { storage, ask } = await keeper();
  const asked = Date.now();
  assert.equal(await ask({ add: 1 }, "c.1", asked), 1);
  // As in a tab that is suspended during a write, while another one does its work.
  let ahead = 0;
  const { now } = Date;
  t.mock.method(Date, "now", () => now.call(Date) + ahead);
  const conflict = new StorageError("storage_conflict", "late", { retryable: true });
  Object.defineProperty(storage, "failing", { get: () => (ahead === 0 ? ((ahead = 20 * 60_000), conflict) : undefined) });
  await assert.rejects(ask({ add: 1 }, "c.2", asked), { code: "outcome_unknown", retryable: false });
  await assert.rejects(ask({ add: 1 }, "c.3", asked), { code: "outcome_unknown", retryable: false });
  assert.equal(await ask({ add: 1 }, "c.1", asked), 1);
  assert.equal(await ask({}), 1);
});

test("a call that was refused is not carried out by a tab that comes to it late, when it would succeed", async () => {
  const storage = new Watched();
  const [late, other] = [await keeper(storage), await keeper(storage)];
  assert.equal(await other.ask({ add: 1, least: 5 }, "c.1"), 0);
  await other.ask({ add: 5 });
  late.kept.learn(storage.groups.length);
  assert.equal(await late.ask({ add: 1, least: 5 }, "c.1"), 0);
  assert.equal(await late.ask({}), 5);
});

test("calls that are refused do not fill the storage for ever", async () => {
  const { storage, ask } = await keeper();
  const note = "x".repeat(1000);
  for (let n = 0; n < 600; n += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => ask({ add: 1, least: 5, note }, `c.${n + i}`)));
  }
  assert.equal(storage.groups.filter(({ snapshot }) => snapshot !== undefined).length, 1);
});

test("closing finishes what was asked before", async () => {
  const { ask, kept, storage } = await keeper();
  const asked = ask({ add: 5 });
  await kept.close();
  assert.equal(await asked, 5);
  assert.equal(storage.groups.length, 1);
});

test("what the core says of a damaged journal becomes a StorageError; other faults keep their name", async () => {
  for (const [said, code] of [
    ['{"code":"journal_corrupt","detail":"entry 3 was altered"}', "storage_corrupt"],
    ['{"code":"journal_version","detail":"version 9"}', "storage_version"],
    ["memory access out of bounds", "internal"],
  ]) {
    const open = () => {
      throw new Error(said);
    };
    const parts = { open, storage: new Watched(), now: Date.now, seed: () => new Uint8Array(32), automatic: true, changed() {}, lost() {} };
    await assert.rejects(Keeper.open(parts), { code });
  }
});

test("a given seed serves as it is once, and never twice", async () => {
  const seed = new Uint8Array(32).fill(7);
  assert.deepEqual(await seedFor(seed, 0), seed);
  const [first, again, other] = [await seedFor(seed, 1), await seedFor(seed, 1), await seedFor(seed, 2)];
  assert.deepEqual(first, again);
  assert.notDeepEqual(first, seed);
  assert.notDeepEqual(first, other);
  assert.equal(first.length, 32);
});
