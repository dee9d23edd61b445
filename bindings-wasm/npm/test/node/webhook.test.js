import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { Webhook } from "standardwebhooks";
import { DisposedError, WebhookError, WebhookVerifier, signTestDelivery } from "railgate/webhook";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
const OTHER = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const BODY = JSON.stringify({ type: "settlement.completed", timestamp: "2026-11-21T10:38:17.042Z", data: { id: "stl_1", sequence: 5 } })
  .replace('"sequence"', '"amount":10.50,"sequence"');
const NOW = new Date("2026-11-21T10:38:20Z");

/** The headers that another library makes for a body. */
function signed(body = BODY, { secret = SECRET, at = NOW, id = "evt_1" } = {}) {
  const signature = new Webhook(secret).sign(id, at, body);
  return { "webhook-id": id, "webhook-timestamp": String(Math.floor(at.getTime() / 1000)), "webhook-signature": signature };
}

async function opened(t, secrets) {
  const webhooks = await WebhookVerifier.open(secrets);
  t.after(() => webhooks[Symbol.dispose]());
  return webhooks;
}

const refuses = (act, message) => assert.throws(act, (error) => {
  assert.ok(error instanceof WebhookError, error.stack);
  if (message !== undefined) assert.match(error.message, message);
  return true;
});

test("what another library signed is genuine, whatever holds headers and body", async (t) => {
  const webhooks = await opened(t, SECRET);
  const headers = signed();
  const expected = {
    id: "evt_1",
    sentAt: NOW,
    type: "settlement.completed",
    timestamp: "2026-11-21T10:38:17.042Z",
    data: { id: "stl_1", amount: "10.50", sequence: 5 },
  };
  const bytes = Buffer.from(`x${BODY}`);
  const ways = [
    [headers, BODY],
    [new Headers(headers), new TextEncoder().encode(BODY)],
    [{ ...headers, host: "shop.example" }, bytes.subarray(1)],
    [Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]])), new TextEncoder().encode(BODY).buffer],
  ];
  for (const [given, body] of ways) assert.deepEqual(webhooks.verify(given, body, NOW), expected);
  const now = signed(BODY, { at: new Date() });
  const request = new Request("https://shop.example/hook", { method: "POST", headers: now, body: BODY });
  assert.equal((await webhooks.verifyRequest(request)).data.amount, "10.50");
});

test("what tells of a webhook that was disabled has that webhook, and no settlement", async (t) => {
  const webhooks = await opened(t, SECRET);
  const data = {
    id: "whk_1",
    url: "https://shop.example/hook",
    events: ["settlement.completed"],
    all_events: false,
    description: null,
    status: "failing",
    failing_since: "2026-11-16T10:38:17.042Z",
    created_at: "2026-11-01T10:38:17.042Z",
    updated_at: "2026-11-21T10:38:17.042Z",
  };
  const body = JSON.stringify({ type: "webhook.disabled", timestamp: "2026-11-21T10:38:17.042Z", data });
  const told = webhooks.verify(signed(body), body, NOW);
  assert.equal(told.type, "webhook.disabled");
  assert.deepEqual(told.data, data);
  // It has exactly the members of its type, apart from those of the calls that make a secret.
  const declared = await readFile(new URL("../../dist/types.d.ts", import.meta.url), "utf8");
  const [, members] = /export interface Webhook \{([^]*?)\n\}/.exec(declared) ?? assert.fail("no such type");
  assert.deepEqual([...members.matchAll(/^ {4}readonly (\w+):/gm)].map(([, member]) => member), Object.keys(data));
});

test("while a secret is changed both are good, on either side", async (t) => {
  const both = await opened(t, [OTHER, SECRET]);
  const one = await opened(t, OTHER);
  const headers = signed();
  assert.equal(both.verify(headers, BODY, NOW).id, "evt_1");
  refuses(() => one.verify(headers, BODY, NOW), /no signature matches/);
  const twice = { ...headers, "webhook-signature": `${headers["webhook-signature"]} ${signed(BODY, { secret: OTHER })["webhook-signature"]}` };
  assert.equal(one.verify(twice, BODY, NOW).id, "evt_1");
});

test("what was changed, is old, or is not whole is refused", async (t) => {
  const webhooks = await opened(t, SECRET);
  const headers = signed();
  refuses(() => webhooks.verify(headers, BODY.replace("10.50", "99.50"), NOW), /no signature matches/);
  refuses(() => webhooks.verify(headers, `${BODY} `, NOW), /no signature matches/);
  refuses(() => webhooks.verify({ ...headers, "webhook-id": "evt_2" }, BODY, NOW), /no signature matches/);
  refuses(() => webhooks.verify(headers, BODY, NOW.getTime() + 301_000), /sent 301 s ago/);
  refuses(() => webhooks.verify(headers, BODY, NOW.getTime() - 301_000), /in the future/);
  for (const name of Object.keys(headers)) {
    refuses(() => webhooks.verify({ ...headers, [name]: undefined }, BODY, NOW), new RegExp(`${name} is missing`));
    refuses(() => webhooks.verify({ ...headers, [name]: [headers[name], headers[name]] }, BODY, NOW), new RegExp(`${name} is missing`));
    refuses(() => webhooks.verify({ ...headers, [name]: "\u0000" }, BODY, NOW), /malformed/);
  }
});

test("a genuine signature over what is no JSON is refused all the same", async (t) => {
  const webhooks = await opened(t, SECRET);
  refuses(() => webhooks.verify(signed("no JSON"), "no JSON", NOW), /not JSON/);
});

test("a secret that is none is refused without being told", async () => {
  for (const secret of ["", "whsec_", "whsec_!!!", "secret"]) {
    await assert.rejects(WebhookVerifier.open(secret), (error) => {
      assert.ok(error instanceof WebhookError, error.stack);
      assert.ok(secret.length < 8 || !error.message.includes(secret));
      return true;
    });
  }
});

test("a body that was parsed is told from one that is not genuine", async (t) => {
  const webhooks = await opened(t, SECRET);
  for (const body of [undefined, {}, JSON.parse(BODY), Object.create(null), [1, 2]]) {
    assert.throws(() => webhooks.verify(signed(), body, NOW), (error) => error instanceof WebhookError && error.code === "body_parsed" && error.message.includes("express.raw()"));
  }
});

test("wrong types are a TypeError, and use after dispose says so", async () => {
  for (const secrets of [undefined, null, 7, {}, [], [7], [undefined]]) await assert.rejects(WebhookVerifier.open(secrets), TypeError);
  const webhooks = await WebhookVerifier.open(SECRET);
  const headers = signed();
  for (const body of [null, 7, new Date()]) assert.throws(() => webhooks.verify(headers, body, NOW), TypeError);
  for (const given of [undefined, null, 7, "x", []]) assert.throws(() => webhooks.verify(given, BODY, NOW), TypeError);
  assert.throws(() => webhooks.verify(headers, BODY, "now"), TypeError);
  assert.throws(() => webhooks.verify(headers, BODY, Number.NaN), TypeError);
  await assert.rejects(webhooks.verifyRequest({}), TypeError);
  webhooks.dispose();
  webhooks.dispose();
  assert.throws(() => webhooks.verify(headers, BODY, NOW), DisposedError);
});

test("what a test signs is what a receiver takes, with the secret and at the time that it has", async (t) => {
  const webhooks = await opened(t, SECRET);
  const { headers, body } = await signTestDelivery(SECRET, { type: "settlement.completed", data: { reference: "inv-1", amount: 10.5 } });
  const told = webhooks.verify(headers, body);
  assert.deepEqual([told.type, told.data, told.id], ["settlement.completed", { reference: "inv-1", amount: "10.5" }, headers["webhook-id"]]);
  assert.ok(Math.abs(Date.parse(told.timestamp) - Date.now()) < 60_000);
  const request = new Request("https://shop.example/hook", { method: "POST", headers, body });
  assert.equal((await webhooks.verifyRequest(request)).id, told.id);
  // Standard Webhooks' own library agrees.
  assert.ok(new Webhook(SECRET).verify(body, headers));

  const old = await signTestDelivery(SECRET, BODY, { id: "evt_1", at: new Date(NOW) });
  assert.deepEqual([old.body, webhooks.verify(old.headers, old.body, NOW).id], [BODY, "evt_1"]);
  assert.throws(() => webhooks.verify(old.headers, old.body), { code: "timestamp_too_old" });
  const other = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
  const foreign = await signTestDelivery(other, BODY);
  assert.throws(() => webhooks.verify(foreign.headers, foreign.body), { code: "no_matching_signature" });
  const both = await signTestDelivery([other, SECRET], BODY);
  assert.equal(webhooks.verify(both.headers, both.body).type, JSON.parse(BODY).type);
  assert.throws(() => webhooks.verify(both.headers, `${both.body} `), { code: "no_matching_signature" });
});

test("a test delivery of the wrong kind is refused before it is signed", async () => {
  await assert.rejects(signTestDelivery("secret", BODY), { code: "invalid_secret" });
  for (const wrong of [[], 7, undefined]) await assert.rejects(signTestDelivery(wrong, BODY), TypeError);
  for (const wrong of [7, null, []]) await assert.rejects(signTestDelivery(SECRET, wrong), TypeError);
  await assert.rejects(signTestDelivery(SECRET, BODY, { at: "now" }), TypeError);
  for (const id of ["", "evt.1"]) await assert.rejects(signTestDelivery(SECRET, BODY, { id }), TypeError);
});
