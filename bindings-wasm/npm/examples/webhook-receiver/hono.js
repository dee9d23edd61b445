// RAILGATE_WEBHOOK_SECRET=whsec_… node hono.js [port]
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { WebhookError, WebhookVerifier } from "railgate/webhook";

const webhooks = await WebhookVerifier.open(process.env.RAILGATE_WEBHOOK_SECRET);
const app = new Hono();

app.post("/webhooks", bodyLimit({ maxSize: 1 << 20 }), async (context) => {
  const { type, data } = await webhooks.verifyRequest(context.req.raw);
  if (type.startsWith("settlement.")) console.log(type, data.reference, data.status);
  return context.body(null, 204);
});
app.onError((error, context) => {
  if (!(error instanceof WebhookError)) throw error;
  return context.text(error.message, 400);
});

serve({ fetch: app.fetch, port: Number(process.argv[2] ?? 8095), hostname: "127.0.0.1" }, ({ port }) => console.log(`listening on ${port}`));
