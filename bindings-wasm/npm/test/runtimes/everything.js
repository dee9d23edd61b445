// The program that every runtime must be able to run with the package. It throws on a failure.
import { Sandbox } from "railgate";
import { RailgateClient, generateSigner } from "railgate/client";
import { loadForms } from "railgate/forms";
import { qrSvg } from "railgate/qr";
import { verifyReceipt } from "railgate/receipt";
import { WebhookVerifier } from "railgate/webhook";

const PAYMENT = { amount: "10.50", currency: "EUR", to: "sim:ok", reference: "inv-1" };

function same(found, expected) {
  const [a, b] = [found, expected].map((value) => JSON.stringify(value));
  if (a !== b) throw new Error(`${a} instead of ${b}`);
}

async function refused(name, promise) {
  const error = await promise.then(
    () => new Error("it was taken"),
    (thrown) => thrown,
  );
  if (error.name !== name) throw error;
}

/** `server`: the address of a gateway. */
export async function everything(server) {
  await payInTheSandbox();
  await payAtAGateway(server);
  await takeAWebhook();
  same((await loadForms()).check({ ...PAYMENT, amount: "ten" }).problems?.map(({ pointer }) => pointer), ["/amount"]);
  same((await qrSvg("railgate")).startsWith("<svg "), true);
}

async function payInTheSandbox() {
  const sandbox = await Sandbox.open({ storage: "memory" });
  await sandbox.create(PAYMENT);
  same((await sandbox.settled("inv-1")).status, "completed");
  await checkReceipt(await sandbox.receipt("inv-1"), await sandbox.jwks());
  // This loads the module that draws it.
  same((await sandbox.receiptAs("inv-1", "text/html")).includes("<svg "), true);
  await sandbox.close();
}

async function payAtAGateway(baseUrl) {
  const client = await RailgateClient.open({ baseUrl, signer: await generateSigner() });
  await client.enroll("Runtime");
  await client.create(PAYMENT, { waitS: 30 });
  for await (const event of client.follow("inv-1")) if (event.type === "settlement.completed") break;
  await checkReceipt(await client.receipt("inv-1"), await client.jwks());
  client.close();
}

async function checkReceipt({ jws }, jwks) {
  const { ref, amt } = await verifyReceipt(jws, jwks);
  same([ref, amt], ["inv-1", "10.50"]);
  const [head, body, signature] = jws.split(".");
  const other = signature.startsWith("A") ? "B" : "A";
  await refused("ReceiptError", verifyReceipt([head, body, other + signature.slice(1)].join("."), jwks));
}

async function takeAWebhook() {
  const secret = crypto.getRandomValues(new Uint8Array(24));
  const body = JSON.stringify({ type: "settlement.completed", timestamp: "2026-11-21T10:38:17.042Z", data: { sequence: 5 } });
  const sent = String(Math.floor(Date.now() / 1000));
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`evt_1.${sent}.${body}`));
  const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
  const headers = { "webhook-id": "evt_1", "webhook-timestamp": sent, "webhook-signature": `v1,${base64(signature)}` };
  const webhooks = await WebhookVerifier.open(`whsec_${base64(secret)}`);
  const request = (text) => new Request("https://shop.example/hook", { method: "POST", headers, body: text });
  same((await webhooks.verifyRequest(request(body))).type, "settlement.completed");
  await refused("WebhookError", webhooks.verifyRequest(request(body.replace("5", "6"))));
}
