// One program for any gateway: a sandbox and a server do the same for it. It throws on a failure.

/** Compares what is found with what is expected. */
function same(found, expected) {
  const [a, b] = [found, expected].map((value) => JSON.stringify(value));
  if (a !== b) throw new Error(`${a} instead of ${b}`);
}

const codeOf = (promise) => promise.then(() => "none", ({ code }) => code);

/** `gateway`: a new one, with its opening balances. */
export async function program(gateway) {
  const pay = (reference, more) => gateway.create({ amount: "10.50", currency: "EUR", to: "sim:ok", reference, ...more }, { waitS: 30 });
  await payments(gateway, pay);
  await lists(gateway);
  await events(gateway);
  await reversals(gateway, pay);
  await simulator(gateway, pay);
  await gateway.close();
  same(await codeOf(gateway.get("p-1")), "disposed");
}

async function payments(gateway, pay) {
  same((await gateway.check({ amount: 1, currency: "EUR", to: "sim:ok", reference: "p-0" })).ok, true);
  const { settlement, replayed } = await pay("p-1");
  same([settlement.status, settlement.amount, replayed], ["completed", "10.50", false]);
  same((await pay("p-1")).replayed, true);
  const one = { amount: "1.00", currency: "EUR", to: "sim:ok" };
  const results = await gateway.createBatch([{ ...one, reference: "p-2" }, { ...one, reference: "p 3" }, { ...one, reference: "p-2" }]);
  same(results.map(({ status, problem }) => [status, problem?.errors[0].pointer]), [[201, undefined], [422, "/reference"], [200, undefined]]);
  same((await gateway.settled("p-2")).status, "completed");
  same([(await gateway.get(settlement.id)).reference, (await gateway.status("p-1")).final], ["p-1", true]);
  same(await codeOf(gateway.get("nobody")), "settlement_not_found");
  const { jws } = await gateway.receipt("p-1");
  same([await gateway.receiptAs("p-1", "application/jose"), (await gateway.jwks()).keys.length], [jws, 1]);
  same((await gateway.receiptAs("p-1", "text/html")).includes("<svg "), true);
  const drawn = await gateway.receiptAs("p-1", "image/svg+xml", { size: 300, margin: 0, level: "M", title: "Paid" });
  same([/ width="300" height="300" /, /<title>Paid<\/title>/].map((part) => part.test(drawn)), [true, true]);
  same(await codeOf(gateway.receiptAs("p-1", "image/svg+xml", { margin: 65 })), "invalid_fields");
  same((await gateway.reconcile("p-1")).consistent, true);
}

async function lists(gateway) {
  const { data, has_more } = await gateway.list({ limit: 1 });
  same([data.map(({ reference }) => reference), has_more], [["p-2"], true]);
  const all = [];
  for await (const { reference } of gateway.list({ limit: 1, created_from: new Date(0) })) all.push(reference);
  same(all, ["p-2", "p-1"]);
  let pages = 0;
  for await (const page of gateway.list({ limit: 1, status: ["completed"] }).pages()) pages += page.data.length;
  same(pages, 2);
}

async function events(gateway) {
  const trace = [];
  for await (const { type } of gateway.events("p-1", { limit: 2 })) trace.push(type);
  same(trace, ["settlement.accepted", "settlement.submitted", "attempt.started", "attempt.answered", "settlement.completed"]);
  same((await gateway.events("p-1", { after: 4 })).data.map(({ sequence }) => sequence), [5]);
  const followed = [];
  for await (const event of gateway.follow("p-1", { after: 2 })) {
    followed.push(event.type);
    if (event.type === "settlement.completed") break;
  }
  same(followed, trace.slice(2));
  const places = [];
  for await (const { position, event } of gateway.followFeed()) {
    places.push(position);
    if (event.reference === "p-2" && event.type === "settlement.completed") break;
  }
  same(places, places.map((_, n) => n + 1));
  const listed = [];
  for await (const { position } of gateway.feed({ limit: 3 })) listed.push(position);
  same(listed.slice(0, places.length), places);
}

async function reversals(gateway, pay) {
  await pay("r-1");
  // The operator's answer gets lost.
  await gateway.setFaults({ drop_answer_rate: 1 });
  const { reversal } = await gateway.reverse("r-1", { amount: "0.50", reference: "back-1" }, { idempotencyKey: "key-1" });
  const again = await gateway.reverse("r-1", { amount: "0.50", reference: "back-1" }, { idempotencyKey: "key-1" });
  same(again.reversal.id, reversal.id);
  for await (const { type } of gateway.follow("r-1")) if (type === "reversal.unknown") break;
  const waiting = [gateway.reversed("r-1", "back-1"), gateway.settled("r-1", { reversals: true })];
  same((await gateway.settled("r-1")).status, "completed");
  // A minute later the operator has been asked.
  await gateway.setFaults({});
  await gateway.setClock({ advance_ms: 60_000 });
  const [ended, status] = await Promise.all(waiting);
  same([ended.id, ended.status, status.status], [reversal.id, "completed", "partially_reversed"]);
  same((await gateway.reversals("r-1")).map(({ id }) => id), [reversal.id]);
  same((await gateway.reversal("r-1", "back-1")).status, ended.status);
}

async function simulator(gateway) {
  await gateway.create({ amount: 2, currency: "EUR", to: "sim:pending", reference: "s-1" });
  same((await gateway.advance("s-1", { to: "failed" })).status, "failed");
  same((await gateway.setFaults({ seed: 7, rate: 0.25 })).rate, 0.25);
  same((await gateway.faults()).seed, 7);
  same((await gateway.fund({ currency: "CHF", amount: "12.50" })).available, "12.50");
  same((await gateway.balance("CHF")).available, "12.50");
  same((await gateway.setClock({ frozen: true })).frozen, true);
  same((await gateway.clock()).frozen, true);
  same((await gateway.reset({})).next_cursor, null);
  same([(await gateway.clock()).frozen, (await gateway.faults()).rate], [false, 0]);
  same((await gateway.balances()).find(({ currency }) => currency === "EUR").available, "1000000.00");
  same((await gateway.scenarios()).some(({ to }) => to === "sim:pending"), true);
}
