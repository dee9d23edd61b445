// A push service and a browser, from nothing but Node's own cryptography: decrypts what the gateway encrypted (RFC 8291 over RFC 8188), verifies
// its token (RFC 8292), and encrypts a message itself. Reads a JSON file of messages, prints a JSON line for each.
import { createCipheriv, createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";
import { readFileSync } from "node:fs";

const bytes = (text) => Buffer.from(text, "base64url");
const hkdf = (ikm, salt, info, length) => Buffer.from(hkdfSync("sha256", ikm, salt, info, length));

function pair(secret) {
  const ecdh = createECDH("prime256v1");
  if (secret === undefined) ecdh.generateKeys();
  else ecdh.setPrivateKey(secret);
  return ecdh;
}

/** The key and nonce of the only record. */
function derive(shared, auth, receiver, sender, salt) {
  const ikm = hkdf(shared, auth, Buffer.concat([Buffer.from("WebPush: info\0"), receiver, sender]), 32);
  return [hkdf(ikm, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16), hkdf(ikm, salt, Buffer.from("Content-Encoding: nonce\0"), 12)];
}

function decrypt(body, secret, auth) {
  const salt = body.subarray(0, 16);
  const record = body.readUInt32BE(16);
  const end = 21 + body[20];
  const [sender, sealed] = [body.subarray(21, end), body.subarray(end)];
  if (sealed.length > record || body.length > 4096) throw new Error("more than one record");
  const ours = pair(secret);
  const [key, nonce] = derive(ours.computeSecret(sender), auth, ours.getPublicKey(), sender, salt);
  const cipher = createDecipheriv("aes-128-gcm", key, nonce);
  cipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
  const last = plain.findLastIndex((byte) => byte !== 0);
  if (plain[last] !== 2) throw new Error("no delimiter");
  return plain.subarray(0, last);
}

function encrypt(text, receiver, auth) {
  const [salt, ours] = [randomBytes(16), pair()];
  const sender = ours.getPublicKey();
  const [key, nonce] = derive(ours.computeSecret(receiver), auth, receiver, sender, salt);
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const sealed = Buffer.concat([cipher.update(Buffer.concat([text, Buffer.from([2, 0, 0, 0])])), cipher.final(), cipher.getAuthTag()]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(4096);
  return Buffer.concat([salt, size, Buffer.from([sender.length]), sender, sealed]);
}

/** The claims of a token that the key beside it signed. */
function claims(authorization) {
  const [, token, key] = /^vapid t=([^,]+), k=([\w-]+)$/.exec(authorization);
  const [header, payload, signature] = token.split(".");
  if (JSON.parse(bytes(header)).alg !== "ES256") throw new Error("another algorithm");
  const point = bytes(key);
  const jwk = { kty: "EC", crv: "P-256", x: point.subarray(1, 33).toString("base64url"), y: point.subarray(33).toString("base64url") };
  const verifier = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" };
  if (!verify("sha256", Buffer.from(`${header}.${payload}`), verifier, bytes(signature))) throw new Error("not signed by its key");
  return JSON.parse(bytes(payload));
}

for (const { secret, auth, body, authorization } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const text = decrypt(bytes(body), bytes(secret), bytes(auth));
  const answer = encrypt(Buffer.concat([Buffer.from("back: "), text]), pair(bytes(secret)).getPublicKey(), bytes(auth));
  const result = { text: text.toString("base64url"), answer: answer.toString("base64url"), claims: claims(authorization) };
  console.log(JSON.stringify(result));
}
