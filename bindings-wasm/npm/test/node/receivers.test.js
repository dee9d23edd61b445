// The receivers of examples/webhook-receiver, each in a process of its own, as the README has them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
// A serialiser would write it differently.
const BODY = '{ "type":"settlement.completed","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_1","reference":"inv-1","status":"completed","amount":10.50,"sequence":5} }';

function signed(body, at = new Date()) {
  const signature = new Webhook(SECRET).sign("evt_1", at, body);
  return { "content-type": "application/json", "webhook-id": "evt_1", "webhook-timestamp": String(Math.floor(at.getTime() / 1000)), "webhook-signature": signature };
}

for (const name of ["server", "express", "fastify", "hono"]) {
  test(`${name} takes what is genuine and nothing else`, async (t) => {
    const file = fileURLToPath(new URL(`../../examples/webhook-receiver/${name}.js`, import.meta.url));
    const child = spawn(process.execPath, [file, "0"], { env: { ...process.env, RAILGATE_WEBHOOK_SECRET: SECRET }, stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => child.kill());
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const port = /(\d+)$/.exec((await lines.next()).value)[1];
    const post = (body, headers) => fetch(`http://127.0.0.1:${port}/webhooks`, { method: "POST", headers, body });
    assert.equal((await post(BODY, signed(BODY))).status, 204);
    assert.match((await lines.next()).value, /inv-1.*completed/);
    const refusals = [
      [BODY.replace("10.50", "99.50"), signed(BODY)],
      [BODY, signed(BODY, new Date(Date.now() - 3_600_000))],
      [BODY, { "content-type": "application/json" }],
    ];
    for (const [body, headers] of refusals) {
      const refused = await post(body, headers);
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /signature|sent|webhook-/);
    }
  });
}
