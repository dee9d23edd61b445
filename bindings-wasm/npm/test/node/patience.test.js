import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import test from "node:test";
import { Deadline, Linked, pause, unlessAborted } from "../../dist/client/patience.js";

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
