// The example's receiver with webhooks from a real server.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { enrolled } from "./server.js";

const RECEIVER = fileURLToPath(new URL("../../examples/webhook-receiver/server.js", import.meta.url));

/** A receiver on a free port, for the duration of the test. */
async function receiver(t, secret) {
  const child = spawn(process.execPath, [RECEIVER, "0"], { env: { ...process.env, RAILGATE_WEBHOOK_SECRET: secret }, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  return { url: value.replace("listening on ", ""), lines };
}

test("the receiver takes what the server signs, in order and once, and nothing else", async (t) => {
  const { client, enrollment } = await enrolled(t);
  const { url, lines } = await receiver(t, enrollment.webhook_secret);
  await client.webhooks.create({ url: `${url}/hook`, events: ["settlement.completed"] });
  await client.create({ amount: "10.50", currency: "EUR", to: "sim:ok", reference: "inv-1" });
  assert.equal((await lines.next()).value, "inv-1 10.50 EUR completed");
  const forged = await fetch(url, { method: "POST", body: "{}", headers: { "webhook-id": "evt_1", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA" } });
  assert.deepEqual([forged.status, await forged.text()].map(String)[0], "400");
  const bare = await fetch(url, { method: "POST", body: "{}" });
  assert.equal(bare.status, 400);
  assert.match(await bare.text(), /webhook-id is missing/);
});

test("without a secret the receiver does not start", async () => {
  const child = spawn(process.execPath, [RECEIVER, "0"], { env: { ...process.env, RAILGATE_WEBHOOK_SECRET: "" }, stdio: "ignore" });
  const [code] = await once(child, "exit");
  assert.notEqual(code, 0);
});
