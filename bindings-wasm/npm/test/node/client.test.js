// The client's retries, against a scripted server. The tests in test/live use a real one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, DisposedError, InternalError, RailgateClient, UnavailableError, generateSigner, memoryVault } from "railgate/client";

const JSON_TYPE = { "content-type": "application/json" };
const answer = (status, body, headers = {}) => () => new Response(JSON.stringify(body), { status, headers: { ...JSON_TYPE, ...headers } });
const problem = (status, code, category, headers) => answer(status, { code, status, category, retryable: true, title: code }, headers);
const SETTLEMENT = answer(200, { id: "stl_1", reference: "x", amount: 1 });
const BUSY = problem(429, "rate_limited", "service_unavailable", { "retry-after": "7" });

/** A client whose calls get the responses of `script` in turn, the calls, and their keys. Challenges and tokens are granted. */
async function scripted(script, { lives = 900, hooks = {}, ...patience } = {}, own = undefined) {
  const asked = [];
  const keys = [];
  const left = [...script];
  const fetch = async (url, init) => {
    const path = new URL(url).pathname;
    if (path.endsWith("/auth/challenges")) return answer(200, { challenge: "c1.AAAA.BBBB", expires_in: lives })();
    if (path.endsWith("/auth/tokens")) return answer(200, { access_token: "rg_sandbox_x", expires_in: lives })();
    asked.push(path);
    keys.push(new Headers(init.headers).get("idempotency-key"));
    const next = left.shift();
    assert.ok(next !== undefined, "asked more often than expected");
    return next(init);
  };
  const { publicKey } = await generateSigner();
  // Signs at once, so that only the client's own timers cause waits.
  const signer = own ?? { publicKey, sign: () => Promise.resolve(new Uint8Array(64)) };
  const client = await RailgateClient.open({ baseUrl: "https://pay.example.com", signer, fetch, patience, hooks });
  return { client, asked, keys };
}

const lost = () => Promise.reject(new TypeError("fetch failed"));
const page = (status) => () => new Response("<html>", { status, headers: { "content-type": "text/html" } });
const PAYMENT = { amount: 1, currency: "EUR", to: "sim:ok", reference: "x" };

/** Lets everything proceed that does not wait for a timer. */
async function settle() {
  for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
}

test("a time may be a Date, in a filter as in a request", async () => {
  const urls = [];
  const fetch = async (url, init) => {
    const { pathname, search } = new URL(url);
    if (pathname.endsWith("/auth/challenges")) return answer(200, { challenge: "c1.AAAA.BBBB", expires_in: 900 })();
    if (pathname.endsWith("/auth/tokens")) return answer(200, { access_token: "rg_sandbox_x", expires_in: 900 })();
    urls.push(init.body ?? search);
    return answer(200, { data: [], has_more: false, next_cursor: null, id: "stl_1", reference: "x" })();
  };
  const client = await RailgateClient.open({ baseUrl: "https://pay.example.com", signer: await generateSigner(), fetch });
  const at = new Date("2030-01-01T00:00:00Z");
  await client.list({ created_from: at });
  await client.create({ ...PAYMENT, expires_at: at });
  assert.deepEqual([urls[0], JSON.parse(urls[1]).expires_at], ["?created_from=2030-01-01T00%3A00%3A00.000Z", "2030-01-01T00:00:00.000Z"]);
  await assert.rejects(client.list({ created_from: new Date(Number.NaN) }), TypeError);
  await client.close();
});

test("Retry-After is waited for to the end", async (t) => {
  const { client, asked } = await scripted([BUSY, SETTLEMENT]);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const got = client.get("x");
  await settle();
  t.mock.timers.tick(6_999);
  await settle();
  assert.equal(asked.length, 1);
  t.mock.timers.tick(1);
  assert.equal((await got).amount, "1");
  assert.equal(asked.length, 2);
});

test("a server that asks for more patience than there is is told to the caller at once", async () => {
  const { client, asked } = await scripted([BUSY], { longestPauseMs: 6_999 });
  const error = await client.get("x").catch((error) => error);
  assert.ok(error instanceof UnavailableError);
  assert.deepEqual([error.code, error.retryAfterMs, error.retryable, asked.length], ["rate_limited", 7_000, true, 1]);
});

test("tries are bounded, and what does not pass by itself is not tried again", async () => {
  const down = await scripted(Array(3).fill(problem(503, "store_unavailable", "service_unavailable")), { attempts: 3, pauseMs: 0 });
  await assert.rejects(down.client.get("x"), { code: "store_unavailable" });
  assert.equal(down.asked.length, 3);
  const none = await scripted([problem(503, "no_route", "service_unavailable")]);
  await assert.rejects(none.client.create(PAYMENT), { code: "no_route" });
  const fault = await scripted([problem(500, "internal", "internal")]);
  await assert.rejects(fault.client.get("x"), InternalError);
});

test("what stands before a server is no server: its trouble passes, its pages are no answers", async () => {
  const passing = await scripted([page(502), page(504), SETTLEMENT], { pauseMs: 0 });
  assert.equal((await passing.client.get("x")).reference, "x");
  // Some have codes of their own.
  const coded = (status) => answer(status, { code: "GATEWAY_TIMEOUT", message: "upstream" }, JSON_TYPE);
  const named = await scripted([coded(504), coded(503), SETTLEMENT], { pauseMs: 0 });
  assert.equal((await named.client.get("x")).reference, "x");
  const blocked = await scripted([coded(403)]);
  await assert.rejects(blocked.client.get("x"), { code: "unreadable_answer", status: 403 });
  const newer = await scripted([answer(409, { code: "of_a_newer_server", title: "New" }, { "content-type": "application/problem+json" })]);
  await assert.rejects(newer.client.get("x"), { name: "BusinessRuleError", code: "of_a_newer_server", status: 409 });
  const gone = await scripted([page(502), page(502)], { attempts: 2, pauseMs: 0 });
  await assert.rejects(gone.client.get("x"), (error) => error instanceof ConnectionError && error.status === 502);
  for (const status of [200, 302, 404]) {
    const wrong = await scripted([page(status)]);
    await assert.rejects(wrong.client.get("x"), (error) => error instanceof InternalError && error.code === "unreadable_answer" && error.status === status);
  }
});

test("what ends the tries does not tell what became of the one before, whose answer got lost", async () => {
  const suspended = problem(403, "client_suspended", "authorisation");
  const fault = problem(500, "internal", "internal");
  const ends = { longestPauseMs: 6_999, pauseMs: 0 };
  const plain = [[suspended, "AuthorisationError"], [BUSY, "UnavailableError"], [fault, "InternalError"], [page(403), "InternalError"], [page(422), "InternalError"]];
  for (const [end, name] of plain) {
    for (const before of [lost, page(502), problem(504, "timeout", "service_unavailable")]) {
      // Another error of the server is reported unchanged: it already says that the outcome is unknown.
      if (end === fault && before !== lost) continue;
      const doubtful = await scripted([before, end], ends);
      await assert.rejects(
        doubtful.client.create(PAYMENT),
        (error) => error instanceof ConnectionError && error.retryable && error.cause.name === name && error.retryAfterMs === error.cause.retryAfterMs,
      );
    }
    const first = await scripted([end], ends);
    await assert.rejects(first.client.create(PAYMENT), { name });
    // Reading twice does no harm.
    const read = await scripted([lost, end], ends);
    await assert.rejects(read.client.get("x"), { name });
  }
  const unsure = await scripted([lost, BUSY], ends);
  await assert.rejects(unsure.client.reverse("x"), (error) => error instanceof ConnectionError && !error.retryable && error.idempotencyKey === unsure.keys[1]);
});

test("what settles all tries is told as it is, and no other refusal of a later one tells what became of the one before", async () => {
  const quick = { pauseMs: 0 };
  const taken = await scripted([lost, problem(409, "reference_conflict", "business_rule")], quick);
  await assert.rejects(taken.client.create(PAYMENT), { name: "BusinessRuleError", code: "reference_conflict", status: 409 });
  // The first attempt may still be in flight, and may find other funds.
  const refusals = [[422, "insufficient_funds", "business_rule"], [422, "of_a_newer_server", "validation"]];
  for (const [status, code, category] of refusals) {
    const refused = problem(status, code, category, { "content-type": "application/problem+json" });
    const { client } = await scripted([lost, refused, refused], quick);
    await assert.rejects(client.create(PAYMENT), (error) => error instanceof ConnectionError && error.retryable && error.cause.code === code);
    await assert.rejects(client.create(PAYMENT), { code, status });
  }
  const reversed = problem(409, "already_reversed", "business_rule");
  const first = await scripted([reversed]);
  await assert.rejects(first.client.reverse("x"), { name: "BusinessRuleError", code: "already_reversed" });
  const doubtful = await scripted([lost, reversed], quick);
  await assert.rejects(doubtful.client.reverse("x"), (error) => error instanceof ConnectionError && error.idempotencyKey === doubtful.keys[1]);
  const exists = problem(409, "key_exists", "business_rule");
  // Of an added key, the client's keys tell whether an earlier attempt enrolled it.
  const adding = await scripted([lost, exists, answer(200, { data: [{ key_id: "another" }] })], quick);
  await assert.rejects(adding.client.addKey(await generateSigner()), { code: "key_exists" });
  assert.match(adding.asked.at(-1), /auth\/keys$/);
  const { client, asked } = await scripted([lost, exists, answer(200, { data: [] })], quick);
  await assert.rejects(client.enroll("Corner shop"), { code: "key_exists" });
  assert.match(asked.at(-1), /balances$/);
});

test("a signer that fails, and a signal, after a lost answer", async () => {
  let signed = 0;
  const { publicKey } = await generateSigner();
  const failing = () => {
    signed += 1;
    return signed > 2 ? Promise.reject(undefined) : Promise.resolve(new Uint8Array(64));
  };
  const { client } = await scripted([lost], { pauseMs: 0 }, { publicKey, sign: failing });
  await assert.rejects(client.create(PAYMENT), ConnectionError);
  const ended = new AbortController();
  const aborted = await scripted([() => { ended.abort(new Error("enough")); return lost(); }]);
  await assert.rejects(aborted.client.create(PAYMENT, { signal: ended.signal }), { message: "enough" });
});

test("a call whose answer got lost is retryable where its caller can make the same one again, and else tells its key", async () => {
  const three = { attempts: 3, pauseMs: 0 };
  const reversed = answer(201, { reversal: null, settlement: { id: "stl_1", reference: "x" } });
  const troubles = [lost, page(504), problem(504, "timeout", "service_unavailable"), problem(503, "store_unavailable", "service_unavailable")];
  for (const trouble of troubles) {
    const nameless = await scripted([trouble, trouble, trouble, reversed], three);
    const error = await nameless.client.reverse("x", { amount: "2.50" }).catch((error) => error);
    assert.deepEqual([error.retryable, error.idempotencyKey], [false, nameless.keys[0]]);
    await nameless.client.reverse("x", { amount: "2.50" }, { idempotencyKey: error.idempotencyKey });
    assert.deepEqual([nameless.keys.length, new Set(nameless.keys).size], [4, 1]);
    const named = await scripted([trouble, trouble, trouble], three);
    await assert.rejects(named.client.reverse("x", {}, { idempotencyKey: "k" }), { retryable: true, idempotencyKey: "k" });
    const referred = await scripted([trouble, trouble, trouble], three);
    await assert.rejects(referred.client.reverse("x", { reference: "back" }), { retryable: true });
    const raw = await scripted([trouble], three);
    await assert.rejects(raw.client.raw("POST", "/webhooks", { body: {} }), { retryable: false, idempotencyKey: undefined });
    const keyed = await scripted([trouble, trouble, trouble], three);
    await assert.rejects(keyed.client.raw("POST", "/webhooks", { idempotencyKey: "k" }), { retryable: true, idempotencyKey: "k" });
    // A call of the table has a key, which the error tells if the caller did not choose it.
    const known = await scripted([trouble, trouble, trouble], three);
    const lostCall = await known.client.webhooks.create({ url: "https://shop.example.com" }).catch((error) => error);
    assert.deepEqual([lostCall.retryable, lostCall.idempotencyKey, new Set(known.keys).size], [false, known.keys[0], 1]);
    const chosen = await scripted([trouble, trouble, trouble], three);
    await assert.rejects(chosen.client.webhooks.create({ url: "x" }, { idempotencyKey: "k" }), { retryable: true, idempotencyKey: "k" });
    const paid = await scripted([trouble, trouble, trouble], three);
    await assert.rejects(paid.client.create(PAYMENT), { retryable: true, idempotencyKey: undefined });
  }
  // The server's `retryable: false` is final, and a call that was refused before it was examined was not executed.
  const told = answer(503, { code: "store_unavailable", status: 503, category: "service_unavailable", retryable: false });
  const wary = await scripted([told, told, told], three);
  await assert.rejects(wary.client.reverse("x", {}, { idempotencyKey: "k" }), { code: "store_unavailable", retryable: false });
  for (const refusal of [BUSY, problem(503, "no_route", "service_unavailable")]) {
    const refused = await scripted([refusal], { attempts: 1 });
    await assert.rejects(refused.client.reverse("x"), { retryable: true, idempotencyKey: undefined });
  }
});

test("a 2xx that is no answer to a payment or a reversal is none", async () => {
  const other = { id: "stl_2", reference: "somebody-else", status: "completed", amount: 1 };
  const portal = () => new Response("<html>Welcome", { headers: { "content-type": "text/html" } });
  const bodies = [{}, null, [], other, [other], "x", { reference: "X" }].map((body) => answer(200, body));
  const two = { attempts: 2, pauseMs: 0 };
  for (const wrong of [...bodies, portal]) {
    const never = await scripted([wrong, wrong], two);
    await assert.rejects(never.client.create(PAYMENT), (error) => error instanceof ConnectionError && error.retryable && error.status === 200);
    const once = await scripted([wrong, SETTLEMENT], two);
    assert.equal((await once.client.create(PAYMENT)).settlement.id, "stl_1");
    const shutOut = await scripted([wrong, BUSY], { ...two, longestPauseMs: 0 });
    await assert.rejects(shutOut.client.create(PAYMENT), ConnectionError);
    const batch = await scripted([wrong, wrong], two);
    await assert.rejects(batch.client.createBatch([PAYMENT]), ConnectionError);
  }
  const reversed = (settlement) => answer(201, { reversal: null, settlement });
  for (const wrong of [...bodies, portal, reversed(null), reversed({}), reversed(other)]) {
    const never = await scripted([wrong, wrong], two);
    await assert.rejects(never.client.reverse("x"), (error) => error instanceof ConnectionError && error.idempotencyKey === never.keys[0]);
  }
  for (const ref of ["x", "stl_1A", "stl_1a"]) {
    const { client } = await scripted([reversed({ id: "stl_1A", reference: "x" })]);
    assert.equal((await client.reverse(ref)).settlement.reference, "x");
  }
  // The request is sent unchanged.
  const { client } = await scripted([SETTLEMENT]);
  assert.equal((await client.create({ toJSON: () => PAYMENT })).replayed, true);
});

test("forget clears the vault whatever the server says", async () => {
  const signer = await generateSigner();
  const refusal = (code, status) => async () => problem(status, code, "authorisation")();
  const forgets = [[refusal("key_revoked", 401)], [refusal("key_unknown", 401)], [refusal("client_suspended", 403), { code: "client_suspended" }], [lost, { name: "ConnectionError" }]];
  for (const [fetch, error] of forgets) {
    let cleared = 0;
    const vault = { ...memoryVault(signer), clear: () => Promise.resolve(void (cleared += 1)) };
    const granting = (url) => (url.endsWith("/auth/challenges") && fetch !== lost ? answer(200, { challenge: "c1.AAAA.BBBB", expires_in: 900 })() : fetch());
    const client = await RailgateClient.open({ baseUrl: "https://pay.example.com", vault, fetch: granting, patience: { attempts: 2, pauseMs: 0 } });
    await assert.rejects(client.forget({ signal: 5 }), TypeError);
    assert.equal(cleared, 0);
    if (error === undefined) await client.forget();
    else await assert.rejects(client.forget(), error);
    assert.equal(cleared, 1);
    await assert.rejects(client.get("x"), DisposedError);
  }
});

test("a vault in memory that was cleared has neither the session nor the key", async () => {
  const signer = await generateSigner();
  const vault = memoryVault(signer);
  assert.equal(await vault.signer(), signer);
  await vault.write({ session: "s", clientId: "cli_1", keyId: "k" });
  await vault.clear();
  assert.deepEqual(await vault.read(), {});
  const [next, same] = await Promise.all([vault.signer(), vault.signer()]);
  assert.equal(next, same);
  assert.notDeepEqual(next.publicKey, signer.publicKey);
});

test("wrong types are a TypeError before anything is sent", async () => {
  const none = () => assert.fail("something was sent");
  const baseUrl = "https://pay.example.com";
  const signer = await generateSigner();
  const { publicKey } = signer;
  for (const wrong of [null, 5, "x", {}, { publicKey: 7, sign() {} }, { publicKey }, { publicKey, sign: 7 }]) {
    await assert.rejects(RailgateClient.open({ baseUrl, signer: wrong, fetch: none }), TypeError, JSON.stringify(wrong));
    const vault = { ...memoryVault(signer), signer: async () => wrong };
    await assert.rejects(RailgateClient.open({ baseUrl, vault, fetch: none }), TypeError, JSON.stringify(wrong));
  }
  for (const fetch of ["x", 7, {}]) await assert.rejects(RailgateClient.open({ baseUrl, signer, fetch }), TypeError);
  const client = await RailgateClient.open({ baseUrl, signer, fetch: none });
  for (const method of ["GET", "HEAD"]) await assert.rejects(client.raw(method, "/webhooks", { body: { a: 1 } }), TypeError);
  for (const given of [new ArrayBuffer(64), "x", undefined, null, 7, [1]]) {
    const odd = await scripted([], {}, { publicKey, sign: () => Promise.resolve(given) });
    await assert.rejects(odd.client.get("x"), TypeError);
  }
});

test("a signature is refused once, and not for ever", async () => {
  const { client, asked } = await scripted(Array(2).fill(problem(401, "challenge_expired", "authorisation")));
  await assert.rejects(client.get("x"), { code: "challenge_expired" });
  assert.equal(asked.length, 2);
});

test("grants that end before they begin do not keep a client busy for ever", async () => {
  const { client } = await scripted([], { lives: 0 });
  await assert.rejects(client.get("x"), { code: "not_ready" });
});

/** Hooks that keep what they are told. */
function recorder(more = {}) {
  const told = [];
  const keep = (kind) => (event) => {
    told.push([kind, event.call, event.attempt, event.renews, event.status ?? event.error?.message]);
    return more[kind]?.(event);
  };
  return { told, hooks: { before: keep("before"), after: keep("after"), error: keep("error") } };
}

test("hooks are told of each request once before and once after it, renewals and lost answers too", async () => {
  const { told, hooks } = recorder();
  const { client } = await scripted([BUSY, lost, SETTLEMENT], { hooks, pauseMs: 0, longestPauseMs: 7_000, attempts: 3 });
  const busy = client.get("x");
  await assert.rejects(client.get("x", { signal: AbortSignal.abort(new Error("gone")) }), { message: "gone" });
  const kinds = () => told.map(([kind, , , renews]) => `${kind}${renews ? " renewal" : ""}`);
  while (told.length < 6) await settle();
  assert.deepEqual(kinds(), ["before renewal", "after renewal", "before renewal", "after renewal", "before", "after"]);
  assert.deepEqual(told[5].slice(2), [1, false, 429]);
  void busy.catch(() => undefined);
  void client.close();

  const second = recorder();
  const retried = await scripted([lost, SETTLEMENT], { hooks: second.hooks, pauseMs: 0 });
  await retried.client.get("x");
  const own = second.told.filter(([, , , renews]) => !renews);
  assert.deepEqual(own.map(([kind, , attempt, , end]) => [kind, attempt, end]), [
    ["before", 1, undefined],
    ["error", 1, "fetch failed"],
    ["before", 2, undefined],
    ["after", 2, 200],
  ]);
  assert.equal(new Set(own.map(([, call]) => call)).size, 1);
});

test("a hook that throws, rejects or sets a signed header changes nothing", async (t) => {
  const faults = t.mock.method(console, "error", () => undefined).mock;
  const fault = () => {
    throw new Error("broken hook");
  };
  const sent = [];
  const keeping = (init) => {
    sent.push(new Headers(init.headers));
    return SETTLEMENT();
  };
  for (const bad of [
    { before: fault, after: fault },
    { before: async () => fault(), after: async () => fault() },
    { before: () => ({ Authorization: "Bearer x" }) },
    { before: () => ({ "Idempotency-Key": "x", traceparent: "00" }) },
    { before: () => ({ ACCEPT: "text/html" }) },
    { before: () => ({ "no header": "x" }) },
    { before: () => ({ traceparent: "a\r\nb: c" }) },
    { before: () => 7n, error: 5 },
  ]) {
    const before = faults.callCount();
    const { client } = await scripted([keeping], { hooks: bad });
    assert.equal((await client.get("x")).reference, "x");
    await settle();
    const headers = sent.pop();
    assert.deepEqual([headers.get("accept"), headers.get("idempotency-key"), headers.get("traceparent")], ["application/json", null, null]);
    assert.match(headers.get("authorization"), /^Bearer rg_sandbox_x$/);
    if (bad.error === undefined) assert.ok(faults.callCount() > before, String(bad.before));
  }
  const { client } = await scripted([keeping], { hooks: { before: () => ({ traceparent: "00-a" }) } });
  await client.get("x");
  assert.equal(sent.pop().get("traceparent"), "00-a");
});
