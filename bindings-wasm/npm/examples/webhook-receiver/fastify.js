// RAILGATE_WEBHOOK_SECRET=whsec_… node fastify.js [port]
import Fastify from "fastify";
import { WebhookError, WebhookVerifier } from "railgate/webhook";

const webhooks = await WebhookVerifier.open(process.env.RAILGATE_WEBHOOK_SECRET);
const app = Fastify();

app.register(async (hooks) => {
  // In this scope bodies stay bytes, because the signature covers them; other routes get JSON as usual.
  hooks.removeAllContentTypeParsers();
  hooks.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: 1 << 20 }, (_request, body, done) => done(null, body));
  hooks.post("/webhooks", async (request, reply) => {
    const { type, data } = webhooks.verify(request.headers, request.body);
    if (type.startsWith("settlement.")) console.log(type, data.reference, data.status);
    return reply.code(204).send();
  });
  hooks.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof WebhookError)) throw error;
    return reply.code(400).send(error.message);
  });
});

await app.listen({ port: Number(process.argv[2] ?? 8095), host: "127.0.0.1" });
console.log(`listening on ${app.server.address().port}`);
