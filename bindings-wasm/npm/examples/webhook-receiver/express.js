// RAILGATE_WEBHOOK_SECRET=whsec_… node express.js [port]
import express from "express";
import { WebhookError, WebhookVerifier } from "railgate/webhook";

const webhooks = await WebhookVerifier.open(process.env.RAILGATE_WEBHOOK_SECRET);
const app = express();

// Before any app.use(express.json()): the signature covers the bytes of the body.
app.post("/webhooks", express.raw({ type: "*/*", limit: "1mb" }), (request, response) => {
  const { type, data } = webhooks.verify(request.headers, request.body);
  if (type.startsWith("settlement.")) console.log(type, data.reference, data.status);
  response.status(204).end();
});
app.use((error, _request, response, next) => {
  if (error instanceof WebhookError) response.status(400).send(error.message);
  else next(error);
});

const server = app.listen(Number(process.argv[2] ?? 8095), "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
