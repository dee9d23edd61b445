import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import test from "node:test";
import { Deadline, Linked, PATIENCE, pause, pauseAfter, retryAfterMs, unlessAborted } from "../../dist/client/patience.js";

test("pauses double up to a bound, each between half and the whole", () => {
  for (let failures = 1; failures < 2000; failures += 1) {
    const whole = Math.min(PATIENCE.longestPauseMs, PATIENCE.pauseMs * 2 ** (failures - 1));
    const ms = pauseAfter(failures, PATIENCE);
    assert.ok(ms >= whole / 2 && ms <= whole, `${failures}: ${ms}`);
  }
  const some = new Set(Array.from({ length: 20 }, () => pauseAfter(3, PATIENCE)));
  assert.ok(some.size > 10, "there is no jitter");
});

test("Retry-After is seconds or a date, and nothing else", () => {
  const now = Date.parse("2026-11-21T10:38:17Z");
  assert.equal(retryAfterMs("7", now), 7000);
  assert.equal(retryAfterMs("0", now), 0);
  assert.equal(retryAfterMs("Sat, 21 Nov 2026 10:38:20 GMT", now), 3000);
  assert.equal(retryAfterMs("Sat, 21 Nov 2026 10:38:10 GMT", now), 0);
  for (const value of [null, "", "soon", "-1", "1.5e3x"]) assert.equal(retryAfterMs(value, now), undefined, String(value));
});

test("a pause ends with its signal, and leaves nothing behind", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const paused = pause(1 << 30, controller.signal);
  controller.abort(reason);
  await assert.rejects(paused, reason);
  await assert.rejects(async () => pause(0, controller.signal), reason);
  const other = new AbortController();
  await pause(0, other.signal);
  assert.equal(getEventListeners(other.signal, "abort").length, 0);
});

test("whoever waits for others' work may leave, and the work goes on", async () => {
  const controller = new AbortController();
  let finish;
  const work = new Promise((resolve) => (finish = resolve));
  const left = unlessAborted(work, controller.signal);
  const stayed = unlessAborted(work, new AbortController().signal);
  controller.abort(new Error("left"));
  await assert.rejects(left, /left/);
  finish("done");
  assert.equal(await stayed, "done");
});

test("linked signals end with the first, with its reason", () => {
  const [one, two] = [new AbortController(), new AbortController()];
  const linked = new Linked(one.signal, undefined, two.signal);
  assert.equal(linked.signal.aborted, false);
  const reason = new Error("two");
  two.abort(reason);
  assert.equal(linked.signal.reason, reason);
  linked.close();
  assert.equal(getEventListeners(one.signal, "abort").length, 0);
  assert.equal(new Linked(two.signal).signal.reason, reason);
});

test("a deadline comes by itself", async () => {
  const deadline = new Deadline(0, new AbortController().signal);
  await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
  assert.equal(deadline.signal.reason.name, "TimeoutError");
  deadline.done();
});
