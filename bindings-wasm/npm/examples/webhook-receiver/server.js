// Receives webhooks with only Node: RAILGATE_WEBHOOK_SECRET=whsec_… node server.js [port]
import { createServer } from "node:http";
import { WebhookError, WebhookVerifier } from "railgate/webhook";

/** Larger than any webhook, in bytes. */
const LARGEST = 1 << 20;

// Several, separated by spaces, during a rotation.
const webhooks = await WebhookVerifier.open((process.env.RAILGATE_WEBHOOK_SECRET ?? "").split(" "));

/** The latest known state of each settlement. In a real shop: a table, changed in the transaction that does the work. */
const sequences = new Map();

/** The body as received: the signature covers bytes. */
async function bodyOf(request) {
  const pieces = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size > LARGEST) throw new WebhookError("body_too_large", "too large");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Webhooks arrive at least once and in any order; one older than the known state is ignored. */
function take({ type, data }) {
  if (!type.startsWith("settlement.")) return;
  if ((sequences.get(data.id) ?? 0) >= data.sequence) return;
  sequences.set(data.id, data.sequence);
  console.log(`${data.reference} ${data.amount} ${data.currency} ${data.status}`);
}

const server = createServer(async (request, response) => {
  try {
    take(webhooks.verify(request.headers, await bodyOf(request)));
    response.writeHead(204).end();
  } catch (error) {
    // Any other error is on our side: the gateway retries.
    const status = error instanceof WebhookError ? 400 : 500;
    if (status === 500) console.error(error);
    response.writeHead(status, { "content-type": "text/plain" }).end(`${error.message}\n`);
  }
});

server.listen(Number(process.argv[2] ?? 8095), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
