// The shared scenarios through the client, against a real server. Its clock runs and its ids differ, so scenarios are played
// only until they move the clock, and only states, amounts, problems and events are compared. The model is a sandbox
// that runs in parallel, with a clock that runs like the server's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { parseView } from "../../dist/json.js";
import { MemoryStorage } from "../../dist/sandbox/memory.js";
import { scenarios } from "../node/scenarios.js";
import { stage } from "../play.js";
import { enrolled } from "./server.js";

/** The server calls for sandbox calls. A call without one ends the scenario. */
const CALLS = {
  create: (client, { body }) => client.create(body).then(({ settlement }) => settlement),
  check: (client, { body }) => client.check(body),
  get: (client, { ref }) => client.get(ref),
  status: (client, { ref }) => client.status(ref),
  events: (client, { ref, query }) => client.events(ref, query).page(),
  reverse: (client, { ref, body, idempotency_key: idempotencyKey }) => client.reverse(ref, body, { idempotencyKey }),
  reversals: (client, { ref }) => client.reversals(ref).then((data) => ({ data })),
  reversal: (client, { ref, id }) => client.reversal(ref, id),
  reconcile: (client, { ref }) => client.reconcile(ref),
  list: (client, { query }) => client.list(query).page(),
  balance: (client, { currency }) => client.balance(currency),
  balances: (client) => client.balances().then((data) => ({ data })),
  scenarios: (client) => client.scenarios().then((data) => ({ data })),
};
const CHANGES = new Set(["create", "reverse"]);

/** Members that differ between two runs and are ignored. */
const OWN = new Set(["hash", "prev", "quote_id", "next_cursor", "as_of", "head", "jws", "key_id", "issuer"]);
const VOLATILE = /\b(stl|evt|rev|cli|rcpt|whk)_[0-9A-Z]{26}|SIM-[0-9A-Z]{26}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** A response without the members that differ between runs. */
function normal(value) {
  const text = JSON.stringify(value, (name, member) => (OWN.has(name) ? undefined : member));
  return text === undefined ? undefined : JSON.parse(text.replace(VOLATILE, "…"));
}

const problemOf = ({ code, status, category, errors, message }) => normal({ code, status, category, errors: errors ?? [], message });

/** The expected result of a call. */
function expected(answer) {
  const { ok, error } = parseView(answer);
  return error === undefined ? { ok: normal(ok) } : { error: problemOf({ ...error, message: error.detail }) };
}

async function outcome(client, { call, ...members }) {
  return CALLS[call](client, members).then(
    (value) => ({ ok: normal(value) }),
    (error) => {
      // A body that is not an object is refused before it reaches the server.
      if (error instanceof TypeError) return undefined;
      return { error: problemOf(error) };
    },
  );
}

/** The steps before the first that needs its own clock. A number in a body may lose its exact text. */
function prefix(steps) {
  const calls = [];
  for (const step of steps) {
    if (step.work) calls.push({ work: true });
    else if (step.call === undefined) break;
    else {
      const call = readable(step.call);
      if (call === undefined) continue;
      if (!(call.call in CALLS)) break;
      calls.push({ call, answer: step.answer });
    }
  }
  return calls;
}

/** The call, if JavaScript can express it: not one that tests its exact text. */
function readable(text) {
  try {
    const call = JSON.parse(text);
    const plain = JSON.stringify(call).length === text.replace(/(\.\d*?)0+(?=[,}\]])/g, "$1").replace(/\.(?=[,}\]])/g, "").length;
    return typeof call?.call === "string" && plain ? call : undefined;
  } catch {
    return undefined;
  }
}

/** A timeout against endless waits, not a measure of how long a server may take. */
const HANGS_MS = 600_000;

/** Does the model's tasks that have become due since the last call: the server's clock runs meanwhile. */
function follower(model) {
  const now = () => Math.trunc(performance.now());
  let last = now();
  return async () => {
    const at = now();
    model.advance(at - last);
    last = at;
    await model.work();
  };
}

/** Reads until server and model agree, because the server does its tasks in the background. */
async function reads(client, call, model, follow) {
  for (const end = performance.now() + HANGS_MS; ; await sleep(25)) {
    const got = await outcome(client, call);
    if (got === undefined) return;
    await follow();
    const wanted = expected(await model.ask(JSON.stringify(call)));
    if (isDeepStrictEqual(got, wanted)) return;
    if (performance.now() > end) assert.deepEqual(got, wanted, JSON.stringify(call));
  }
}

let compared = 0;
for (const scenario of scenarios) {
  const calls = prefix(scenario.steps);
  if (calls.length === 0) continue;
  test(`${scenario.name}: ${calls.length} of ${scenario.steps.length} steps`, async (t) => {
    const { client } = await enrolled(t);
    const model = await stage(scenario, () => new MemoryStorage());
    t.after(() => model.close());
    const follow = follower(model);
    // Between a change and the tasks that follow it, the server's state is in transition: the result of a read, a repetition
    // or a reversal would be a matter of luck.
    let still = true;
    const made = new Set();
    for (const { work, call, answer } of calls) {
      if (work) {
        await follow();
        for (const ref of made) await reads(client, { call: "get", ref }, model, follow);
        still = true;
        continue;
      }
      if (!CHANGES.has(call.call)) {
        if (!still) continue;
        await reads(client, call, model, follow);
      } else {
        await model.ask(JSON.stringify(call));
        const wanted = expected(answer);
        if (!still && call.call === "reverse") return;
        const got = await outcome(client, call);
        const again = !still && made.has(call.body?.reference);
        if (call.call === "create" && wanted.ok !== undefined) made.add(wanted.ok.reference);
        if (got === undefined || again) continue;
        assert.deepEqual(got, wanted, JSON.stringify(call));
        still = still && wanted.error !== undefined;
      }
      compared += 1;
    }
  });
}

test("many answers were compared", () => assert.ok(compared > 60, String(compared)));
