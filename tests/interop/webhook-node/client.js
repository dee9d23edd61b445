// A receiver and a sender of webhooks with the npm package standardwebhooks:
//
//   node client.js verify FILE    node client.js sign FILE
//
// FILE contains a JSON list of webhooks. Prints a line of JSON for each: {"name", "verified"} or {"name", "signature"}.
import { readFileSync } from 'node:fs'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

const [action, file] = process.argv.slice(2)

// --- A receiver ------------------------------------------------------------------------------------------------------

// `body` is the request's body as received: parsed and serialised again, it may have different bytes.
function isGenuine(secret, headers, body) {
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false })
    return true
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false
    throw error
  }
}

// --- The tests' interface --------------------------------------------------------------------------------------------

for (const { name, secret, id, timestamp, signature, body } of JSON.parse(readFileSync(file, 'utf8'))) {
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature }
  const result =
    action === 'verify'
      ? { name, verified: isGenuine(secret, headers, body) }
      : { name, signature: new Webhook(secret).sign(id, new Date(timestamp * 1000), body) }
  console.log(JSON.stringify(result))
}
