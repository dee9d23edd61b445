// The client against a real server.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as railgate from "railgate/client";
import { verifyReceipt } from "railgate/receipt";
import { lyingFetch } from "./liar.js";
import { QUICK, baseUrl, enrolled, inviting, opened } from "./server.js";

const pay = (reference, more = {}) => ({ amount: "10.50", currency: "EUR", to: "sim:ok", reference, ...more });

test("a payment from its first call to its receipt and its reversal, exact to the last zero", async (t) => {
  const { client, enrollment } = await enrolled(t);
  assert.match(enrollment.client_id, /^cli_/);
  assert.equal(client.clientId, enrollment.client_id);
  assert.equal(client.keyId, enrollment.key_id);
  assert.match(enrollment.webhook_secret, /^whsec_/);
  assert.ok(!("access_token" in enrollment));
  assert.equal(enrollment.balances.find(({ currency }) => currency === "KWD").available, "1000000.000");

  const checked = await client.check(pay("inv-1"));
  assert.deepEqual([checked.ok, checked.quote.total_debit, checked.funds_available], [true, "10.50", true]);
  const { settlement, replayed } = await client.create(pay("inv-1", { metadata: { amount: "7" } }), { waitS: 30 });
  assert.deepEqual([settlement.status, settlement.amount, settlement.total_debit, replayed], ["completed", "10.50", "10.50", false]);
  assert.deepEqual(settlement.metadata, { amount: "7" });
  assert.equal((await client.status("inv-1")).final, true);
  assert.equal((await client.get(settlement.id)).reference, "inv-1");
  assert.equal((await client.create(pay("inv-1", { metadata: { amount: "7" } }))).replayed, true);

  const receipt = await client.receipt("inv-1");
  const claims = await verifyReceipt(receipt.jws, await client.jwks());
  assert.deepEqual([claims.ref, claims.amt, claims.sub], ["inv-1", "10.50", settlement.id]);
  assert.match(await client.receiptAs("inv-1", "image/svg+xml"), /^<svg /);

  const { reversal } = await client.reverse("inv-1", { amount: 0.5, reason: "customer_request", reference: "back-1" });
  assert.equal(reversal.amount, "0.50");
  for await (const event of client.follow("inv-1")) if (event.type === "reversal.completed") break;
  assert.equal((await client.reversal("inv-1", "back-1")).status, "completed");
  assert.equal((await client.reversals("inv-1")).length, 1);
  assert.equal((await client.get("inv-1")).reversed_amount, "0.50");
  assert.equal((await client.balance("EUR")).available, "999990.00");
  assert.equal((await client.reconcile("inv-1")).consistent, true);
  assert.ok((await client.scenarios()).some(({ to }) => to === "sim:timeout-then-ok"));
  const providers = await client.providers();
  assert.deepEqual(providers.map(({ id, status, sandbox }) => [id, status, sandbox]), [["simulator", "up", true], ["simulator-backup", "up", true]]);
  assert.deepEqual(await client.provider("simulator"), providers[0]);
  await assert.rejects(client.provider("nobody"), { code: "provider_not_found" });
  assert.equal((await client.keys())[0].key_id, client.keyId);
});

test("the simulator does what its client says", async (t) => {
  const { client } = await enrolled(t, { patience: QUICK });
  assert.equal((await client.fund({ currency: "CHF", amount: "12.50" })).available, "12.50");
  await assert.rejects(client.fund({ currency: "CHF", amount: "0" }), { code: "invalid_fields" });
  await client.create(pay("sim-1", { to: "sim:pending" }));
  assert.equal((await client.advance("sim-1", { to: "completed" })).status, "completed");
  await assert.rejects(client.advance("sim-1", { to: "failed" }), { code: "invalid_state" });
  assert.deepEqual(await client.setFaults({ rate: 0.25, seed: 7 }), { rate: 0.25, latency_ms: 0, drop_answer_rate: 0, seed: 7 });
  assert.equal((await client.faults()).seed, 7);
  await client.create(pay("sim-2", { to: "sim:pending" }));
  const { ended, still_open, next_cursor } = await client.reset();
  assert.deepEqual([ended, still_open, next_cursor], [1, 0, null]);
  assert.equal((await client.faults()).rate, 0);
  assert.equal((await client.balance("EUR")).available, "1000000.00");
});

test("the clock is stopped, put ahead and let run, and put ahead once although the response is lost", async (t) => {
  const changes = [];
  const lossy = lyingFetch(({ method, path }) => {
    if (method === "PUT" && path.endsWith("/simulator/clock")) changes.push(path);
    return changes.length === 2 && lossy.told.length === 0 ? "lost answer" : undefined;
  });
  const { client } = await enrolled(t, { fetch: lossy, patience: QUICK });
  await client.create(pay("clock-1", { to: "sim:returned-after-1d" }));
  const stopped = await client.setClock({ frozen: true });
  assert.equal(stopped.frozen, true);
  const ahead = await client.setClock({ advance_ms: 2 * 86_400_000 });
  assert.deepEqual([changes.length, lossy.told.length], [3, 1]);
  assert.equal(Date.parse(ahead.now) - Date.parse(stopped.now), 2 * 86_400_000);
  assert.deepEqual([(await client.clock()).now, ahead.frozen, ahead.advancing_to], [ahead.now, true, undefined]);
  assert.equal((await client.get("clock-1")).status, "returned");
  assert.equal((await client.setClock({ frozen: false })).frozen, false);
  await assert.rejects(client.setClock({ advance_ms: -1 }), { code: "invalid_fields" });
  await assert.rejects(client.setClock([]), TypeError);
});

test("play money is added once although the response to it is lost", async (t) => {
  const lossy = lyingFetch(({ path }) => (path.endsWith("/simulator/fund") && lossy.told.length === 0 ? "lost answer" : undefined));
  const { client } = await enrolled(t, { fetch: lossy, patience: QUICK });
  assert.equal((await client.fund({ currency: "CHF", amount: "5" })).available, "5.00");
  assert.equal((await client.balance("CHF")).available, "5.00");
});

test("lists, pages and batches", async (t) => {
  const { client } = await enrolled(t);
  const results = await client.createBatch([pay("b-1"), pay("b-2", { currency: "EURO" }), pay("b-3", { amount: 7 })]);
  assert.deepEqual(results.map(({ status }) => status), [201, 422, 201]);
  assert.deepEqual(results[1].problem.errors.map(({ pointer }) => pointer), ["/currency"]);
  assert.equal(results[2].settlement.amount, "7.00");
  const page = await client.list({ limit: 1, currency: "EUR" });
  assert.deepEqual([page.data.length, page.has_more], [1, true]);
  const references = [];
  for await (const { reference } of client.list({ limit: 1, status: ["accepted", "submitted", "completed"] })) references.push(reference);
  assert.deepEqual(references, ["b-3", "b-1"]);
  await client.settled("b-1");
  const { data } = await client.events("b-1", { limit: 200 });
  assert.deepEqual(data.map(({ sequence }) => sequence), data.map((_, n) => n + 1));
  assert.equal(data[0].data.amount, "10.50");
});

test("what is wrong comes as an error of its family, with everything that is wrong", async (t) => {
  const { client } = await enrolled(t);
  const invalid = await client.create({ amount: "10.505", currency: "EUR", to: "nobody", reference: "é" }).catch((error) => error);
  assert.ok(invalid instanceof railgate.ValidationError);
  assert.deepEqual([invalid.code, invalid.status, invalid.retryable], ["invalid_fields", 422, false]);
  assert.deepEqual(invalid.errors.map(({ pointer }) => pointer), ["/amount", "/to", "/reference"]);
  assert.ok(invalid.requestId.length > 0);
  await assert.rejects(client.get("nothing"), (error) => error instanceof railgate.NotFoundError && error.code === "settlement_not_found");
  await client.create(pay("c-1"));
  await assert.rejects(client.create(pay("c-1", { amount: 1 })), (error) => error instanceof railgate.BusinessRuleError && error.code === "reference_conflict");
  await assert.rejects(client.create(pay("c-2", { amount: "1000000.01" })), { code: "insufficient_funds" });
  assert.deepEqual(await client.call("GET", "/webhooks"), { data: [] });
  await assert.rejects(client.raw("GET", "/nowhere"), { code: "route_not_found" });
});

test("wrong types are a TypeError before anything is sent", async (t) => {
  const none = () => assert.fail("something was sent");
  const signer = await railgate.generateSigner();
  for (const options of [undefined, null, {}, { baseUrl: 7 }, { baseUrl, signer, environment: "test" }, { baseUrl, signer, patience: { attempts: 0 } }, { baseUrl, signer: {} }, { baseUrl, signer, fetch: "x" }, { baseUrl, signer, hooks: 7 }]) {
    await assert.rejects(railgate.RailgateClient.open(options), TypeError);
  }
  const client = await opened(t, { signer, fetch: none });
  for (const call of [
    () => client.create("x"),
    () => client.create([]),
    () => client.create(pay("x"), { waitS: -1 }),
    () => client.create(pay("x"), { signal: {} }),
    () => client.createBatch(pay("x")),
    () => client.get(7),
    () => client.get(""),
    () => client.get(".."),
    async () => client.list(7),
    async () => client.list({ currency: {} }),
    async () => client.events("x", { after: 1.5 }),
    async () => client.statement(7),
    () => client.export(7).next(),
    () => client.proof(""),
    () => client.reversed("x", 7),
    () => client.webhooks.get(7),
    () => client.webhooks.create("x"),
    () => client.reverse("x", {}, { idempotencyKey: 7 }),
    () => client.reverse("x", {}, { idempotencyKey: "é" }),
    () => client.call("POST", "/webhooks", { idempotencyKey: "a\r\nb: c" }),
    () => client.enroll(undefined),
    () => client.enroll("x", { invitation: 7 }),
    () => client.enroll("x", { invitation: "" }),
    () => client.balance(null),
    () => client.call("get", "/webhooks"),
    () => client.raw("get", "/webhooks"),
    () => client.raw("GET", "/../x"),
    () => client.call("GET", "/webhooks/{id}"),
    () => client.call("GET", "/webhooks/{id}", { params: { id: ".." } }),
    () => client.call("GET", "/log/tile/{tile}", { params: { tile: "../../x" } }),
    () => client.call("GET", "/webhooks", { body: {} }),
    () => client.follow("x", { attempts: 0 }).next(),
  ]) {
    await assert.rejects(call, TypeError, String(call));
  }
  await assert.rejects(railgate.RailgateClient.open({ baseUrl: "ftp://x", signer }), railgate.RailgateError);
});

test("a token and a challenge are kept, and what has become useless is fetched anew", async (t) => {
  const vault = railgate.memoryVault(await railgate.generateSigner());
  const paths = [];
  const counting = (url, init) => {
    paths.push(new URL(url).pathname.replace("/api/v1", ""));
    return fetch(url, init);
  };
  const first = await opened(t, { vault, fetch: counting });
  await first.enroll("Kept");
  await Promise.all([first.balance("EUR"), first.balance("USD"), first.balance("KES")]);
  // The three at once in any order.
  assert.deepEqual(paths.splice(0).sort(), ["/auth/challenges", "/auth/enrollments", "/balances/EUR", "/balances/KES", "/balances/USD"]);
  first.close();

  const second = await opened(t, { vault, fetch: counting });
  assert.match(second.clientId, /^cli_/);
  await second.balance("EUR");
  assert.deepEqual(paths.splice(0), ["/balances/EUR"]);

  const later = Date.now() + 600_000;
  const stale = { access_token: `rg_sandbox_${"A".repeat(49)}`, token_ends_at: later, challenge: "c1.AAAA.AAAA", challenge_ends_at: later };
  await vault.write({ keyId: second.keyId, session: JSON.stringify(stale) });
  const third = await opened(t, { vault, fetch: counting });
  const { settlement } = await third.create(pay("kept-1"));
  assert.equal(settlement.reference, "kept-1");
  assert.deepEqual(paths.splice(0), [
    "/gateway/settlements",
    "/auth/tokens",
    "/auth/challenges",
    "/auth/tokens",
    "/gateway/settlements",
  ]);
});

test("many calls at once renew once", async (t) => {
  const vault = railgate.memoryVault(await railgate.generateSigner());
  let renewals = 0;
  const counting = (url, init) => {
    renewals += url.endsWith("/auth/tokens") || url.endsWith("/auth/challenges") ? 1 : 0;
    return fetch(url, init);
  };
  const first = await opened(t, { vault });
  await first.enroll("Many");
  await vault.write({});
  const second = await opened(t, { vault, fetch: counting });
  await Promise.all(Array.from({ length: 20 }, (_, n) => second.create(pay(`many-${n}`))));
  assert.equal(renewals, 2);
});

test("a signal ends a call, and only that one", async (t) => {
  let hang = false;
  const hanging = (url, init) =>
    hang && url.includes("/balances/EUR")
      ? new Promise((_, reject) => init.signal.addEventListener("abort", () => reject(init.signal.reason)))
      : fetch(url, init);
  const { client } = await enrolled(t, { fetch: hanging });
  hang = true;
  const controller = new AbortController();
  const reason = new Error("changed my mind");
  const hung = client.balance("EUR", { signal: controller.signal });
  const other = client.balance("USD", { signal: new AbortController().signal });
  setImmediate(() => controller.abort(reason));
  await assert.rejects(hung, reason);
  assert.equal((await other).currency, "USD");
  await assert.rejects(client.balance("USD", { signal: controller.signal }), reason);
  await assert.rejects(client.balance("USD", { signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("after its end everything says so, also what was under way", async (t) => {
  const hanging = (url, init) =>
    url.includes("/balances") ? new Promise((_, reject) => init.signal.addEventListener("abort", () => reject(init.signal.reason))) : fetch(url, init);
  const { client } = await enrolled(t, { fetch: hanging });
  const hung = client.balance("EUR");
  const followed = client.followFeed().next();
  setImmediate(() => client.close());
  await assert.rejects(hung, railgate.DisposedError);
  await assert.rejects(followed, railgate.DisposedError);
  await assert.rejects(client.balance("EUR"), railgate.DisposedError);
  assert.throws(() => client.keyId, railgate.DisposedError);
  client.close();
});

test("another key of the same client works until it is revoked; a live one waits for an operator", async (t) => {
  const { client } = await enrolled(t);
  const signer = await railgate.generateSigner();
  const key = await client.addKey(signer, "till 2");
  assert.deepEqual([key.label, key.status], ["till 2", "active"]);
  const till = await opened(t, { signer });
  await till.create(pay("till-1"));
  assert.equal((await client.get("till-1")).reference, "till-1");
  await client.revokeKey(key.key_id);
  await assert.rejects(till.create(pay("till-2")), railgate.AuthorisationError);

  const live = await railgate.generateSigner();
  assert.deepEqual((await client.enrollLive(live)).status, "pending");
  const waiting = await opened(t, { signer: live, environment: "live" });
  await assert.rejects(waiting.balances(), { code: "enrollment_pending" });
  for (const wrong of [undefined, {}, { publicKey: {} }, { publicKey: 7, sign: () => 1 }]) await assert.rejects(client.addKey(wrong), TypeError);
});

test("whoever forgets cannot pay any more", async (t) => {
  const signer = await railgate.generateSigner();
  const cleared = [];
  const vault = { ...railgate.memoryVault(signer), clear: async () => void cleared.push(true) };
  const client = await opened(t, { vault });
  await client.enroll("Forgetful");
  await client.forget();
  assert.equal(cleared.length, 1);
  await assert.rejects(client.balances(), railgate.DisposedError);
});

test("what was kept for one key says nothing of another", async (t) => {
  const { client, enrollment } = await enrolled(t);
  await client.balances();
  const kept = { clientId: enrollment.client_id, keyId: client.keyId, session: "{}" };
  const signer = await railgate.generateSigner();
  const vault = { signer: async () => signer, read: async () => kept, write: async () => {}, clear: async () => {} };
  const other = await opened(t, { vault });
  assert.deepEqual([other.enrolled, other.clientId], [false, undefined]);
  assert.notEqual((await other.enroll("Another")).client_id, enrollment.client_id);
});

test("a key that is enrolled is found again, also by who has nothing but the key", async (t) => {
  const signer = await railgate.generateSigner();
  const first = await opened(t, { signer });
  const { client_id } = await first.enroll("Shop");
  await first.create(pay("once"));
  const second = await opened(t, { signer });
  assert.deepEqual([second.enrolled, second.clientId], [false, undefined]);
  for (const client of [second, first]) {
    const again = await client.enroll("Another shop");
    assert.deepEqual([again.client_id, again.environment, again.status], [client_id, "sandbox", "active"]);
    assert.deepEqual([client.enrolled, client.clientId], [true, client_id]);
  }
  assert.equal((await second.get("once")).client_id, client_id);
  // A token response names the client as well.
  const third = await opened(t, { signer });
  await third.balances();
  assert.deepEqual([third.enrolled, third.clientId], [true, client_id]);
});

test("where clients are invited, a client enrols with its invitation, once", async (t) => {
  const { baseUrl, invitation } = inviting;
  const invited = await opened(t, { baseUrl });
  await assert.rejects(invited.enroll("Uninvited"), { code: "invitation_invalid" });
  const { client_id: clientId } = await invited.enroll("Invited", { invitation });
  assert.deepEqual([invited.enrolled, invited.clientId], [true, clientId]);
  const second = await opened(t, { baseUrl });
  await assert.rejects(second.enroll("Second", { invitation }), { code: "invitation_invalid" });
});

test("an enrolment whose answer got lost is done all the same", async (t) => {
  const lossy = lyingFetch(({ path }) => (path.endsWith("/enrollments") && lossy.told.length === 0 ? "lost answer" : undefined));
  const client = await opened(t, { signer: await railgate.generateSigner(), fetch: lossy, patience: QUICK });
  const enrollment = await client.enroll("Lossy");
  assert.equal(lossy.told.length, 1);
  assert.equal(enrollment.key_id, client.keyId);
  assert.deepEqual([enrollment.client_id, enrollment.webhook_secret, client.enrolled], [client.clientId, undefined, true]);
  assert.equal(enrollment.balances.find(({ currency }) => currency === "EUR").available, "1000000.00");
});

test("a key whose enrolment by another one got no answer is enrolled all the same", async (t) => {
  const lost = new Set();
  const once = ({ path }) => /\/(keys|enrollments)$/.test(path) && lost.size < 2 && !lost.has(path) && lost.add(path);
  const { client } = await enrolled(t);
  const signer = await railgate.generateSigner();
  const lossy = lyingFetch((call) => (call.method === "POST" && once(call) ? "lost answer" : undefined));
  await client.addKey(signer);
  const other = await opened(t, { signer, fetch: lossy, patience: QUICK });
  const [till, live] = [await railgate.generateSigner(), await railgate.generateSigner()];
  const added = await other.addKey(till, "till 3");
  assert.deepEqual([added.label, added.status, added.environment], ["till 3", "active", "sandbox"]);
  const { key_id, ...asked } = await other.enrollLive(live);
  assert.deepEqual(asked, { client_id: client.clientId, environment: "live", status: "pending" });
  assert.equal(lossy.told.length, 2);
  const waiting = await opened(t, { signer: live, environment: "live" });
  assert.equal(key_id, waiting.keyId);
  await assert.rejects(waiting.balances(), { code: "enrollment_pending" });
  // A key of one kind is not taken for the other, nor is somebody else's.
  await assert.rejects(client.addKey(live), { code: "key_exists" });
  await assert.rejects((await enrolled(t)).client.addKey(till), { code: "key_exists" });
  await client.revokeKey(added.key_id);
  await assert.rejects(client.addKey(till), { code: "key_exists" });
});
