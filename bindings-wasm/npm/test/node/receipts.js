// Receipts for tests: as the gateway makes them, but with npm `jose` and a test key.
import { CompactSign, calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";

const CLAIMS = {
  iss: "https://pay.example",
  jti: "rcpt_01M7YTYXEJEZWQWR4THJSYJV6R",
  iat: 1_795_257_497,
  sub: "stl_01M7YTYXEJ1FP4VC5F00000009",
  env: "sandbox",
  ref: "inv-1",
  amt: "10.50",
  cur: "EUR",
  fee: "0.05",
  from: "cli_00000000000000000000000003",
  to: "iban:***3000",
  status: "completed",
  settled_at: "2026-11-21T10:38:17.042Z",
  provider: "simulator",
  rail_ref: null,
  rev: "0.00",
  ev: { n: 5, head: "ab".repeat(32) },
};

/** An issuer of receipts: `sign(claims?, header?)` returns a JWS, `jwks` contains its key. */
export async function issuer() {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  return {
    claims: CLAIMS,
    jwks: { keys: [{ ...jwk, kid, use: "sig", alg: "ES256" }] },
    async sign(claims = {}, header = {}) {
      const payload = new TextEncoder().encode(JSON.stringify({ ...CLAIMS, ...claims }));
      const protectedHeader = { alg: "ES256", kid, typ: "settlement-receipt+jwt", ...header };
      return new CompactSign(payload).setProtectedHeader(protectedHeader).sign(privateKey);
    },
  };
}
