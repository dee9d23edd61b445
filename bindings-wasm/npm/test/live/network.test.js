// The client over an unreliable network: whatever is lost, late or duplicated, everything is done once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError } from "railgate/client";
import { LIES, lyingFetch, seeded } from "./liar.js";
import { HASTY, QUICK, enrolled } from "./server.js";

const pay = (reference, more = {}) => ({ amount: "10.00", currency: "EUR", to: "sim:ok", reference, ...more });
const isCreate = ({ method, path }) => method === "POST" && path.endsWith("/gateway/settlements");
const isReverse = ({ path }) => path.endsWith("/reverse");

/** A client whose network does `lie` at the first call that `which` selects. */
async function lied(t, lie, which) {
  const fetch = lyingFetch((call) => (which(call) && fetch.told.length === 0 ? lie : undefined));
  return { client: (await enrolled(t, { fetch, patience: lie === "late" ? HASTY : QUICK })).client, fetch };
}

for (const lie of LIES) {
  test(`${lie}: a create is done once`, async (t) => {
    const { client, fetch } = await lied(t, lie, isCreate);
    const { settlement, replayed } = await client.create(pay("inv-1"));
    assert.deepEqual([fetch.told.length, settlement.reference, replayed], [1, "inv-1", lie !== "lost request"]);
    await client.settled("inv-1");
    assert.equal((await client.list()).data.length, 1);
    assert.equal((await client.balance("EUR")).available, "999990.00");
  });

  test(`${lie}: a partial reversal is done once`, async (t) => {
    const { client, fetch } = await lied(t, lie, isReverse);
    await client.create(pay("inv-1"), { waitS: 30 });
    const { reversal } = await client.reverse("inv-1", { amount: "2.50" });
    assert.deepEqual([fetch.told.length, reversal.amount], [1, "2.50"]);
    for await (const event of client.follow("inv-1")) if (event.type === "reversal.completed") break;
    const [only, ...more] = await client.reversals("inv-1");
    assert.deepEqual([only.id, more.length], [reversal.id, 0]);
    assert.equal((await client.balance("EUR")).available, "999992.50");
  });
}

test("a network that is down for good is told, and the payment can be sent again later", async (t) => {
  let down = false;
  const fetch = lyingFetch((call) => (down && isCreate(call) ? "lost answer" : undefined));
  const { client } = await enrolled(t, { fetch, patience: { ...QUICK, attempts: 3 } });
  down = true;
  const error = await client.create(pay("inv-1")).catch((error) => error);
  assert.ok(error instanceof ConnectionError);
  assert.deepEqual([error.code, error.retryable, fetch.told.length], ["connection_lost", true, 3]);
  down = false;
  assert.equal((await client.create(pay("inv-1"))).replayed, true);
  assert.equal((await client.list()).data.length, 1);
});

test("a call that cannot be repeated is not", async (t) => {
  const fetch = lyingFetch(({ path }) => (path.endsWith("/webhooks") ? "lost answer" : undefined));
  const { client } = await enrolled(t, { fetch, patience: QUICK });
  await assert.rejects(client.raw("POST", "/webhooks", { body: { url: "https://shop.example.com/hook" } }), ConnectionError);
  assert.equal(fetch.told.length, 1);
});

test("many payments and reversals at once, a third of all calls lied about: the books agree to the cent", async (t) => {
  const seed = Number(process.env.RAILGATE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));
  t.diagnostic(`RAILGATE_TEST_SEED=${seed}`);
  const random = seeded(seed);
  let lying = false;
  const fetch = lyingFetch(() => (lying && random() < 1 / 3 ? LIES[Math.floor(random() * LIES.length)] : undefined));
  const { client } = await enrolled(t, { fetch, patience: { ...HASTY, attempts: 30 } });
  lying = true;
  const one = async (n) => {
    const reference = `many-${n}`;
    await client.create(pay(reference));
    await client.settled(reference);
    if (n % 2 === 0) await client.reverse(reference, { amount: "1.25", reference: `back-${n}` });
  };
  await Promise.all(Array.from({ length: 20 }, (_, n) => one(n)));
  let reversed = 0;
  for await (const { event } of client.followFeed({ attempts: 30 })) {
    reversed += event.type === "reversal.completed" ? 1 : 0;
    if (reversed === 10) break;
  }
  lying = false;
  assert.ok(fetch.told.length > 0, "no lie was told");
  const all = [];
  for await (const settlement of client.list({ limit: 7 })) all.push(settlement);
  assert.equal(all.length, 20);
  assert.equal(all.filter(({ status }) => status === "partially_reversed").length, 10);
  const { available, reserved, pending, ledger } = await client.balance("EUR");
  assert.deepEqual([available, reserved, pending, ledger], ["999812.50", "0.00", "0.00", "999812.50"]);
});

/** A network that truncates each stream after some bytes. */
function cutting(bytes) {
  const streams = [];
  const cut = async (url, init) => {
    const answer = await fetch(url, init);
    if (answer.headers.get("content-type") !== "text/event-stream") return answer;
    streams.push(new Headers(init.headers).get("last-event-id"));
    let left = bytes;
    const short = new TransformStream({
      transform(piece, controller) {
        controller.enqueue(piece.subarray(0, left));
        left -= piece.length;
        if (left <= 0) controller.error(new TypeError("terminated (the test's network)"));
      },
    });
    return new Response(answer.body.pipeThrough(short), answer);
  };
  return Object.assign(cut, { streams });
}

test("streams that break are taken up where they were: each event once, in order", async (t) => {
  const fetch = cutting(1_500);
  const { client } = await enrolled(t, { fetch, patience: QUICK });
  for (const n of [1, 2, 3]) await client.create(pay(`inv-${n}`), { waitS: 30 });
  const positions = [];
  for await (const { position, event } of client.followFeed()) {
    positions.push(position);
    assert.match(event.id, /^evt_/);
    if (positions.length === 15) break;
  }
  assert.deepEqual(positions, Array.from({ length: 15 }, (_, n) => n + 1));
  assert.ok(fetch.streams.length > 3, `${fetch.streams.length} streams`);
  assert.equal(fetch.streams[0], null);
  assert.ok(fetch.streams.slice(1).every((last) => Number(last) > 0));
});

test("a stream that nobody can open is given up after its tries", async (t) => {
  const fetch = lyingFetch(({ path }) => (path.endsWith("/gateway/events") ? "lost answer" : undefined));
  fetch.told.length = 0;
  const down = (url, init) => (url.includes("/gateway/events") ? Promise.reject(new TypeError("fetch failed")) : fetch(url, init));
  const { client } = await enrolled(t, { fetch: down, patience: QUICK });
  await assert.rejects(client.followFeed({ attempts: 3 }).next(), ConnectionError);
});
