// Benchmarks: webhooks compared with npm `standardwebhooks`, receipts compared with npm `jose`, a form's check, and start-up time.
// Both get the same inputs, and both are asserted to find them genuine.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { importJWK, compactVerify } from "jose";
import { Webhook } from "standardwebhooks";
import { loadForms } from "railgate/forms";
import { verifyReceipt } from "railgate/receipt";
import { WebhookVerifier } from "railgate/webhook";
import { issuer } from "../test/node/receipts.js";

const ROUNDS = 7;
const ROUND_MS = 400;

/** Measures calls a second for some time. Asynchronous calls run one after the other. */
async function rate(call) {
  const begun = performance.now();
  let calls = 0;
  while (performance.now() - begun < ROUND_MS) {
    for (let n = 0; n < 20; n += 1) {
      const result = call();
      // Synchronous calls are not awaited.
      if (result instanceof Promise) await result;
    }
    calls += 20;
  }
  return calls / ((performance.now() - begun) / 1000);
}

const middle = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Alternates between the candidates, so that other load affects all of them; prints the median of the rounds. */
async function compare(unit, contenders) {
  const rates = contenders.map(() => []);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [n, [, call]] of contenders.entries()) {
      const measured = await rate(call);
      // The first round is a warm-up.
      if (round > 0) rates[n].push(measured);
    }
  }
  contenders.forEach(([name], n) => show(name, middle(rates[n]), unit));
}

/** Milliseconds from the import in a new process to the first result; the median of several. */
function startUp(code) {
  const timed = `const begun = performance.now(); ${code} process.stdout.write(String(performance.now() - begun));`;
  const run = () => Number(execFileSync(process.execPath, ["--input-type=module", "--eval", timed], { cwd: import.meta.dirname }));
  return middle(Array.from({ length: 9 }, run));
}

const show = (name, value, unit) => console.log(`${name.padEnd(50)}${value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 1 : 0 }).padStart(12)} ${unit}`);

async function webhooks() {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const body = JSON.stringify({ type: "settlement.completed", timestamp: "2026-11-21T10:38:17.042Z", data: { description: "x".repeat(900) } });
  const [ours, theirs] = [await WebhookVerifier.open(secret), new Webhook(secret)];
  const now = new Date();
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": theirs.sign("evt_1", now, body),
  };
  assert.deepEqual(ours.verify(headers, body).data, theirs.verify(body, headers).data);
  await compare("verifications/s", [
    ["webhook of 1 KB, railgate", () => ours.verify(headers, body)],
    ["webhook of 1 KB, standardwebhooks", () => theirs.verify(body, headers)],
  ]);
}

async function receipts() {
  const { sign, jwks, claims } = await issuer();
  const jws = await sign();
  const text = JSON.stringify(jwks);
  const key = await importJWK(jwks.keys[0], "ES256");
  assert.deepEqual(await verifyReceipt(jws, text), claims);
  assert.deepEqual(JSON.parse(new TextDecoder().decode((await compactVerify(jws, key)).payload)), claims);
  await compare("verifications/s", [
    ["receipt, railgate (from the text of the key set)", () => verifyReceipt(jws, text)],
    ["receipt, jose (from the text of the key set)", async () => compactVerify(jws, await importJWK(JSON.parse(text).keys[0], "ES256"))],
    ["receipt, jose (signature alone, imported key)", () => compactVerify(jws, key)],
  ]);
}

async function forms() {
  const { check } = await loadForms();
  const good = { amount: "10.50", currency: "EUR", to: "msisdn:+254700000001", reference: "inv-1", metadata: { order: "7" } };
  const bad = { ...good, amount: "1e3", currency: "EURO", to: "x", reference: "é" };
  await compare("checks/s", [
    ["form, nothing wrong", () => check(good)],
    ["form, four problems", () => check(bad)],
  ]);
}

function starts() {
  show("start to the first receipt, railgate", startUp('const { verifyReceipt } = await import("railgate/receipt"); await verifyReceipt("a.b.c", "{}").catch(() => 0);'), "ms");
  show("start to the first receipt, jose", startUp('const { compactVerify } = await import("jose"); await compactVerify("a.b.c", new Uint8Array(32)).catch(() => 0);'), "ms");
  show("start to the first webhook, railgate", startUp('const { WebhookVerifier } = await import("railgate/webhook"); await WebhookVerifier.open("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");'), "ms");
  show("start to the first form, railgate", startUp('const { loadForms } = await import("railgate/forms"); (await loadForms()).check({});'), "ms");
}

console.log(`Node ${process.versions.node}, ${process.platform} ${process.arch}`);
await webhooks();
await receipts();
await forms();
starts();
