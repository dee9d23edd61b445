// Every call of the interface has a method or is typed by its path.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import { ConnectionError, Listing } from "railgate/client";
import { verifyLogProof, verifyTrace } from "railgate/log";
import { WebhookVerifier } from "railgate/webhook";
import { QUICK, enrolled } from "./server.js";

const pay = (reference, more = {}) => ({ amount: "10.50", currency: "EUR", to: "sim:ok", reference, ...more });

/** A receiver that keeps what it is sent. */
async function receiver(t) {
  const messages = [];
  const waiting = [];
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    messages.push({ headers: request.headers, body: Buffer.concat(pieces) });
    waiting.splice(0).forEach((wake) => wake());
    response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const next = async () => {
    while (messages.length === 0) await new Promise((wake) => waiting.push(wake));
    return messages.shift();
  };
  return { url: `http://127.0.0.1:${server.address().port}/hook`, next };
}

test("a webhook's whole life: made, tested, changed, rotated, told, told again, disabled, enabled, removed", async (t) => {
  const { client } = await enrolled(t);
  const { webhooks } = client;
  const { url, next } = await receiver(t);
  const { id, secret } = await webhooks.create({ url, events: ["settlement.completed"], description: "first" });
  const receives = async (...secrets) => (await WebhookVerifier.open(secrets)).verify(...Object.values(await next()));
  assert.match(secret, /^whsec_/);
  assert.deepEqual((await webhooks.list()).map((it) => [it.id, it.secret]), [[id, undefined]]);
  assert.deepEqual([(await webhooks.get(id)).events, (await webhooks.get(id)).description], [["settlement.completed"], "first"]);

  const tested = await webhooks.test(id, { type: "settlement.failed" });
  assert.deepEqual([tested.delivered, tested.response.status, (await receives(secret)).type], [true, 204, "settlement.failed"]);

  await client.create(pay("w-1"));
  const told = await receives(secret);
  assert.deepEqual([told.type, told.data.reference, told.data.amount], ["settlement.completed", "w-1", "10.50"]);
  const delivered = async () => {
    for await (const delivery of webhooks.deliveries(id, { limit: 1 })) if (delivery.cause === "event" && delivery.status === "delivered") return delivery;
    return delivered();
  };
  const { id: delivery, message_id, type } = await delivered();
  assert.deepEqual([message_id, type, (await webhooks.delivery(id, delivery)).attempts], [told.id, "settlement.completed", 1]);
  assert.ok((await webhooks.deliveries(id, { status: "delivered" })).data.length >= 2);
  assert.equal((await webhooks.redeliver(id, delivery)).cause, "redelivery");
  assert.equal((await receives(secret)).id, told.id);
  assert.deepEqual(await webhooks.replay(id, { since: new Date(0).toISOString() }), { queued: 1, next_after: null });
  assert.equal((await receives(secret)).id, told.id);

  const rotated = await webhooks.rotate(id, { grace: 3600 });
  assert.notEqual(rotated.secret, secret);
  await webhooks.test(id);
  const { headers, body } = await next();
  // Both sign for an hour.
  for (const one of [secret, rotated.secret]) (await WebhookVerifier.open(one)).verify(headers, body);

  assert.deepEqual([(await webhooks.update(id, { enabled: false, description: null })).status, (await webhooks.get(id)).description], ["disabled", null]);
  assert.equal((await webhooks.enable(id)).status, "enabled");
  assert.equal(await webhooks.remove(id), undefined);
  await assert.rejects(webhooks.get(id), { code: "webhook_not_found" });
});

test("a call that makes something is repeated after a lost response, and makes it once", async (t) => {
  let lost = 0;
  const lossy = async (url, init) => {
    const response = await fetch(url, init);
    if (!url.endsWith("/webhooks") || init.method !== "POST" || (lost += 1) > 1) return response;
    await response.arrayBuffer();
    throw new TypeError("fetch failed");
  };
  const { client } = await enrolled(t, { fetch: lossy, patience: QUICK });
  const made = await client.webhooks.create({ url: "https://shop.example.com/hook" });
  assert.deepEqual([lost, made.secret, made.secret_shown], [2, undefined, true]);
  assert.equal((await client.webhooks.list()).length, 1);
});

test("a receipt in every form; the document is one to the last byte", async (t) => {
  const { client } = await enrolled(t);
  await client.create(pay("inv-1"), { waitS: 30 });
  const pdf = await client.receiptAs("inv-1", "application/pdf");
  assert.ok(pdf instanceof Uint8Array);
  const text = Buffer.from(pdf).toString("latin1");
  assert.match(text, /^%PDF-1\.\d/);
  assert.match(text, /%%EOF\s*$/);
  // The table of objects is where the document says, and each object where the table says.
  const at = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(text)[1]);
  const [, first, count] = /^xref\s+(\d+) (\d+)\s/.exec(text.slice(at));
  const entries = [...text.slice(at).matchAll(/^(\d{10}) (\d{5}) ([nf])/gm)];
  assert.deepEqual([first, entries.length], ["0", Number(count)]);
  entries.forEach(([, place, , used], n) => {
    if (used === "n") assert.ok(text.slice(Number(place)).startsWith(`${n} 0 obj`), `object ${n}`);
  });
  assert.deepEqual(await client.call("GET", "/gateway/settlements/{ref}/receipt", { params: { ref: "inv-1" }, accept: "application/pdf" }), pdf);
  const { jws } = await client.receipt("inv-1");
  assert.equal(await client.receiptAs("inv-1", "application/jose"), jws);
  for (const [form, start] of [["text/html", /^<!doctype html>/i], ["text/plain", /10\.50/], ["image/svg+xml", /^<svg /]]) {
    assert.match(await client.receiptAs("inv-1", form), start);
  }
});

test("an export is every settlement, with amounts as text, and an error if it breaks off", async (t) => {
  let cut = false;
  const cutting = async (url, init) => {
    const response = await fetch(url, init);
    if (!cut || !response.ok || !url.includes("/export")) return response;
    const [first] = await response.body.values().next().then(({ value }) => [value.slice(0, 2_000)]);
    let sent = false;
    const body = new ReadableStream({
      pull(controller) {
        if (sent) controller.error(new TypeError("terminated"));
        else controller.enqueue(first);
        sent = true;
      },
    });
    return new Response(body, { headers: response.headers });
  };
  const { client } = await enrolled(t, { fetch: cutting, patience: QUICK });
  await client.createBatch(Array.from({ length: 230 }, (_, n) => pay(`e-${n}`, { amount: `${n + 1}.10` })));
  const all = [];
  for await (const { reference, amount } of client.export({ currency: "EUR" })) all.push([reference, amount]);
  assert.deepEqual(all, Array.from({ length: 230 }, (_, n) => [`e-${229 - n}`, `${230 - n}.10`]));
  for await (const { reference } of client.export({ min_amount: "230.00" })) {
    assert.equal(reference, "e-229");
    break;
  }
  cut = true;
  const broken = async () => {
    for await (const _ of client.export());
  };
  await assert.rejects(broken(), (error) => error instanceof ConnectionError && error.retryable);
  await assert.rejects(client.export({ status: "done" }).next(), { code: "invalid_fields" });
  const ended = new AbortController();
  const aborted = async () => {
    for await (const _ of client.export({}, { signal: ended.signal })) ended.abort(new Error("enough"));
  };
  cut = false;
  await assert.rejects(aborted(), { message: "enough" });
  const csv = await client.call("GET", "/gateway/settlements/export", { query: { reference: "e-7" }, accept: "text/csv" });
  assert.equal(csv.trim().split("\n").length, 2);
});

test("a statement, its lines in pages or as a stream", async (t) => {
  const { client } = await enrolled(t);
  await client.create(pay("inv-1"), { waitS: 30 });
  // Lines follow the payments that cause them.
  while ((await client.statement("EUR")).data.length < 2);
  const pages = [];
  for await (const entry of client.statement("EUR", { limit: 1, from: new Date(Date.now() - 86_400_000) })) pages.push(entry);
  assert.deepEqual(pages.map(({ type, amount, balance }) => [type, amount, balance])[0], ["payment", "-10.50", "999989.50"]);
  const streamed = [];
  for await (const entry of client.exportStatement("EUR")) streamed.push(entry);
  assert.deepEqual(streamed, pages);
  assert.equal((await client.statement("EUR")).data.length, pages.length);
  await assert.rejects(client.movement("wire-1"), { code: "movement_not_found" });
});

test("a receipt's proof and the log that it is in", async (t) => {
  const { client } = await enrolled(t);
  const { settlement } = await client.create(pay("inv-1"), { waitS: 30 });
  const proof = await client.proof("inv-1").catch(async function again(error) {
    assert.equal(error.code, "not_logged_yet");
    await new Promise(setImmediate);
    return client.proof("inv-1").catch(again);
  });
  assert.deepEqual([proof.settlement_id, proof.sequence], [settlement.id, 5]);
  const [, size] = (await client.log.checkpoint()).split("\n");
  assert.ok(Number(size) >= proof.tree_size);
  assert.ok((await client.log.keys()).length > 0);
  const tile = await client.log.tile(`0/000.p/${Math.min(proof.tree_size, 255)}`);
  assert.deepEqual([tile instanceof Uint8Array, tile.length % 32], [true, 0]);
});

test("the log is verified here: the history, its place in the tree, and who signed that", async (t) => {
  const { client } = await enrolled(t);
  await client.create(pay("inv-1"), { waitS: 30 });
  const proof = await client.proof("inv-1").catch(async function again(error) {
    assert.equal(error.code, "not_logged_yet");
    await new Promise(setImmediate);
    return client.proof("inv-1").catch(again);
  });
  const { data: events } = await client.events("inv-1");
  const keys = await client.log.keys();
  assert.deepEqual(await verifyTrace(events), { unbroken: true, head: proof.event_hash });
  const { included, size, index, key, log } = await verifyLogProof(proof.proof, proof.event_hash, keys);
  assert.deepEqual([included, size, index], [true, proof.tree_size, proof.leaf_index]);
  assert.ok(keys.split("\n").includes(key) && key.startsWith(`${log}+`));
  // What was changed, left out or put elsewhere is found.
  const changed = events.with(1, { ...events[1], at: "2026-11-21T10:00:00.000Z" });
  assert.deepEqual(await verifyTrace(changed), { unbroken: false, broken_at: 2 });
  assert.deepEqual(await verifyTrace(events.toSpliced(2, 1)), { unbroken: false, broken_at: 3 });
  assert.deepEqual(await verifyTrace([]), { unbroken: false, broken_at: 1 });
  const refused = async (...given) => {
    const verdict = await verifyLogProof(...given);
    assert.equal(verdict.included, false);
    return verdict.reason;
  };
  assert.match(await refused(proof.proof, events[0].hash, keys), /not in the log at this place/);
  assert.match(await refused(proof.proof.replace(/[^\n]+\n$/, "— railgate AAAA\n"), proof.event_hash, keys), /cannot be trusted/);
  assert.match(await refused(proof.proof, proof.event_hash, ""), /cannot be trusted/);
  assert.match(await refused("c2sp.org/tlog-proof@v1\n", proof.event_hash, keys), /not a proof/);
  assert.match(await refused(proof.proof, "abc", keys), /64 hexadecimal digits/);
  await assert.rejects(verifyTrace("[]"), TypeError);
  await assert.rejects(verifyLogProof(proof.proof, 7, keys), TypeError);
});

test("any call by its path, with what it takes and returns", async (t) => {
  const { client } = await enrolled(t);
  const { settlement } = await client.create(pay("inv-1"), { waitS: 30 });
  assert.deepEqual(await client.call("GET", "/webhooks"), { data: [] });
  const found = await client.call("GET", "/gateway/settlements/{ref}", { params: { ref: settlement.id } });
  assert.equal(found.amount, "10.50");
  const page = await client.call("GET", "/gateway/settlements", { query: { status: ["completed", "failed"], min_amount: 10, created_from: new Date(0) } });
  assert.deepEqual(page.data.map(({ reference }) => reference), ["inv-1"]);
  assert.equal((await client.call("POST", "/gateway/settlements", { body: pay("inv-1") })).id, settlement.id);
  const all = client.all("/gateway/settlements", { query: { limit: 1 } });
  assert.ok(all instanceof Listing);
  for await (const { reference } of all) assert.equal(reference, "inv-1");
  assert.equal((await all.page()).has_more, false);
  // Operators have keys of their own.
  await assert.rejects(client.call("GET", "/operator/overview"), { code: "insufficient_scope" });
  await assert.rejects(client.all("/operator/audit").page(), { code: "insufficient_scope" });
  const raw = await client.raw("GET", "/gateway/settlements/inv-1");
  assert.deepEqual([raw.status, raw.json().amount, raw.text().startsWith("{"), raw.bytes.length > 100], [200, "10.50", true, true]);
  assert.ok(raw.headers.has("etag"));
});

test("hooks see each request, add a trace, and cannot break what they see", async (t) => {
  const seen = [];
  const sent = [];
  const recording = (url, init) => {
    sent.push(new Headers(init.headers));
    return fetch(url, init);
  };
  t.mock.method(console, "error", () => undefined);
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const hooks = {
    before: (request) => (seen.push(["before", request]), { traceparent }),
    after: (response) => seen.push(["after", response]),
    error: (failure) => seen.push(["error", failure]),
  };
  const { client } = await enrolled(t, { hooks, fetch: recording });
  seen.length = 0;
  await client.create(pay("inv-1"), { waitS: 30 });
  assert.deepEqual(seen.map(([kind]) => kind), ["before", "after"]);
  const [[, request], [, response]] = seen;
  assert.deepEqual([request.method, new URL(request.url).pathname, request.attempt, request.renews], ["POST", "/api/v1/gateway/settlements", 1, false]);
  assert.deepEqual([response.status, response.requestId.length > 0, response.ms >= 0, response.call], [201, true, true, request.call]);
  assert.ok(!JSON.stringify(seen).includes("rg_sandbox_"));
  assert.ok(sent.every((headers) => headers.get("traceparent") === traceparent));
  assert.equal(console.error.mock.callCount(), 0);
});
