// Code that must or must not compile, whatever platform types a project has. Nothing here runs.
import { Sandbox } from "railgate";
import { RailgateClient, generateKeyPair, generateSigner, webCryptoSigner, type KeyPair, type PublicJwk, type Signer } from "railgate/client";
import { loadForms } from "railgate/forms";
import { qrSvg } from "railgate/qr";
import { verifyReceipt } from "railgate/receipt";
import { WebhookVerifier } from "railgate/webhook";

/** Fails to compile for `any`. */
type NotAny<T> = 0 extends 1 & T ? never : true;
const typed = <_ extends true>(): void => undefined;

export const own: Signer = { publicKey: { kty: "EC", crv: "P-256", x: "", y: "" }, sign: (data) => Promise.resolve(data) };
// @ts-expect-error: a key is an object
export const none: Signer = { publicKey: 5, sign: (data) => Promise.resolve(data) };

export async function signs(): Promise<void> {
  const pair = await generateKeyPair();
  typed<NotAny<typeof pair>>();
  typed<NotAny<KeyPair["privateKey"]>>();
  typed<NotAny<Signer["publicKey"]>>();
  // Accepts the platform's objects and returns objects that the platform accepts.
  const theirs = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
  const signer = await webCryptoSigner(theirs);
  const jwk: PublicJwk = await crypto.subtle.exportKey("jwk", pair.publicKey);
  await crypto.subtle.importKey("jwk", signer.publicKey, { name: "ECDSA", namedCurve: "P-256" }, false, ["verify"]);
  await verifyReceipt("", { keys: [jwk] });
  // @ts-expect-error: no pair
  await webCryptoSigner("x");
  // @ts-expect-error: it has no such member
  pair.nonsense;
  // @ts-expect-error: keys are objects
  await verifyReceipt("", { keys: [1, "two"] });
}

export async function uses(request: Request): Promise<string> {
  using client = await RailgateClient.open({ baseUrl: "https://pay.example.com", signer: await generateSigner() });
  using webhooks = await WebhookVerifier.open("whsec_");
  using sandbox = await Sandbox.open();
  await using watch = sandbox.followFeed();
  for await (const { event } of watch) typed<NotAny<typeof event>>();
  typed<NotAny<Parameters<typeof webhooks.verifyRequest>[0]>>();
  typed<NotAny<typeof client.keyId>>();
  await webhooks.verifyRequest(request);
  (await loadForms()).check({});
  return qrSvg("x");
}
