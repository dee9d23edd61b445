import assert from "node:assert/strict";
import test from "node:test";
import { ReceiptError, verifyReceipt } from "railgate/receipt";
import { issuer } from "./receipts.js";

/** Made by the engine, with a test key. */
const RECEIPT =
  "eyJhbGciOiJFUzI1NiIsImtpZCI6Ik5ycWczLU1fWHd0eC0xdGJ0YzFKN1h1bDJEeWVDMGJVU3k5dV81TlNHNmciLCJ0eXAiOiJzZXR0bGVtZW" +
  "50LXJlY2VpcHQrand0In0.eyJpc3MiOiJodHRwczovL3BheS5leGFtcGxlIiwianRpIjoicmNwdF8wMU03WVRZWEVKRVpXUVdSNFRISlNZSlY2" +
  "VyIsImlhdCI6MTc5NTI1NzQ5Nywic3ViIjoic3RsXzAxTTdZVFlYRUoxRlA0VkM1RjAwMDAwMDA5IiwiZW52Ijoic2FuZGJveCIsInJlZiI6Im" +
  "ludi0xIiwiYW10IjoiMTAuNTAiLCJjdXIiOiJFVVIiLCJmZWUiOiIwLjA1IiwiZnJvbSI6ImNsaV8wMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAw" +
  "MyIsInRvIjoiaWJhbjoqKiozMDAwIiwic3RhdHVzIjoiY29tcGxldGVkIiwic2V0dGxlZF9hdCI6IjIwMjYtMTEtMjFUMTA6Mzg6MTcuMDQyWi" +
  "IsInByb3ZpZGVyIjoic2ltdWxhdG9yIiwicmFpbF9yZWYiOm51bGwsInJldiI6IjAuMDAiLCJldiI6eyJuIjo1LCJoZWFkIjoiYWJhYmFiYWJh" +
  "YmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYiJ9fQ.NAC3I3YSzYlFW-oZkiQyp6AKqFxzt1n" +
  "Y5XokTwUmWgVklq9Zpznqo5ureLQ4vtb9P-ZygXExYZfsz5fSa8aciA";
const KEYS = '{"keys":[{"crv":"P-256","kty":"EC","x":"b_A7lJJBzh2t1DUZ5pYOCoW0GmmgXDKBA6orzhWUyhY","y":"PE91OlW_AdxT9sCwx-7ni0DG_30lqW4igrmJzvccFEo"}]}';

const refused = (jws, jwks, message) => assert.rejects(verifyReceipt(jws, jwks), (error) => {
  assert.ok(error instanceof ReceiptError, error.stack);
  assert.equal(error.code, "receipt_invalid");
  if (message !== undefined) assert.match(error.message, message);
  return true;
});

test("a receipt of the engine says what it says, with white space around it too", async () => {
  for (const jws of [RECEIPT, `\n ${RECEIPT}\r\n`]) {
    const claims = await verifyReceipt(jws, KEYS);
    assert.deepEqual([claims.ref, claims.amt, claims.cur, claims.env, claims.ev.n], ["inv-1", "10.50", "EUR", "sandbox", 5]);
  }
});

test("one that another library made says the same, by text and by object", async () => {
  const { sign, jwks, claims } = await issuer();
  const jws = await sign();
  assert.deepEqual(await verifyReceipt(jws, jwks), claims);
  assert.deepEqual(await verifyReceipt(jws, JSON.stringify(jwks)), claims);
  const live = await verifyReceipt(await sign({ env: "live", supersedes: "rcpt_01M7YTYXEJEZWQWR4THJSYJV6Q" }), jwks);
  assert.deepEqual([live.env, live.supersedes], ["live", "rcpt_01M7YTYXEJEZWQWR4THJSYJV6Q"]);
});

test("what was changed, by another key, or of another kind is refused", async () => {
  const { sign, jwks } = await issuer();
  const other = await issuer();
  const jws = await sign();
  const [header, payload, signature] = jws.split(".");
  const forged = Buffer.from(payload, "base64url").toString().replace("10.50", "99.50");
  await refused([header, Buffer.from(forged).toString("base64url"), signature].join("."), jwks, /signature does not match/);
  await refused(jws, other.jwks);
  await refused(jws, { keys: [] }, /no keys/);
  await refused(await sign({}, { typ: "JWT" }), jwks);
  await refused(await sign({ amt: "10.5" }), jwks);
  await refused(`${header}..${signature}`, jwks);
  for (const jws of ["", "a.b.c", "eyJhbGciOiJub25lIn0.e30."]) await refused(jws, jwks);
});

test("every changed bit of the signature is found", async () => {
  const { sign, jwks } = await issuer();
  const [header, payload, signature] = (await sign()).split(".");
  const bytes = Buffer.from(signature, "base64url");
  for (let n = 0; n < bytes.length; n += 1) {
    const changed = Buffer.from(bytes);
    changed[n] ^= 1 << n % 8;
    await refused([header, payload, changed.toString("base64url")].join("."), jwks);
  }
});

test("a key that is no point of the curve is refused", async () => {
  const { calculateJwkThumbprint } = await import("jose");
  const { sign } = await issuer();
  const off = { kty: "EC", crv: "P-256", x: Buffer.alloc(32, 1).toString("base64url"), y: Buffer.alloc(32, 1).toString("base64url") };
  await refused(await sign({}, { kid: await calculateJwkThumbprint(off) }), { keys: [off] });
});

test("wrong types are a TypeError", async () => {
  for (const jws of [undefined, null, 7, {}, [], Symbol("x"), new Uint8Array(3)]) await assert.rejects(verifyReceipt(jws, KEYS), TypeError);
  for (const jwks of [undefined, null, 7, [], () => 1]) await assert.rejects(verifyReceipt(RECEIPT, jwks), TypeError);
});
