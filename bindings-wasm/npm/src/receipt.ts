/**
* Verifies receipts offline with the gateway's public keys.
 *
* The core checks the format of a receipt, byte by byte; Web Crypto verifies the signature.
 *
 * @module
 */

import { loadReceipt } from "#load/receipt";
import * as check from "./check.js";
import { RailgateError } from "./errors.js";
import { guarded } from "./problem.js";
import type { ReceiptClaims } from "./types.js";
import type { JsonWebKeySet } from "./values.js";

export { ReceiptError, RailgateError } from "./errors.js";
export type { ReceiptClaims, ReceiptTrace, SettlementStatus } from "./types.js";
export type { JsonWebKeySet, PublicJwk } from "./values.js";

const P256 = { name: "ECDSA", namedCurve: "P-256" } as const;
const ES256 = { name: "ECDSA", hash: "SHA-256" } as const;

/**
* Returns the claims of a receipt if it is genuine.
 *
 * @param jws - The receipt: a compact JWS, from the gateway, a file or a QR code. White space around it does not matter.
* @param jwks - The gateway's public keys from `/.well-known/jwks.json`, as text or parsed. Keep a copy that you trust; retired
 *   keys stay in it.
* @returns The claims. Check `env` (a sandbox receipt represents no money) and the issuer (`iss`).
 * @throws {@link ReceiptError} with code `receipt_invalid` if it is not genuine; its message gives the reason.
 */
export async function verifyReceipt(jws: string, jwks: string | JsonWebKeySet): Promise<ReceiptClaims> {
  const given = check.text(jws, "jws").trim();
  const set = typeof jwks === "string" ? jwks : check.json(jwks, "jwks");
  const { ReceiptCheck } = await loadReceipt();
  const pending = guarded(() => new ReceiptCheck(given, set));
  try {
    const valid = await fits(pending.jwk(), pending.signed(), pending.signature());
    // The last call: it consumes the check.
    const claims = guarded(() => pending.finish(valid));
    return JSON.parse(claims) as ReceiptClaims;
  } finally {
    pending.free();
  }
}

async function fits(jwk: string, signed: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const key = await imported(jwk);
  // A point that is not on the curve cannot be imported.
  return key !== undefined && webCrypto().verify(ES256, key, new Uint8Array(signature), new Uint8Array(signed));
}

/** Recently used keys: importing one takes as long as verifying a signature. Issuers have few. */
const keys = new Map<string, Promise<CryptoKey | undefined>>();
const MOST_KEYS = 16;

function imported(jwk: string): Promise<CryptoKey | undefined> {
  const known = keys.get(jwk);
  if (known !== undefined) return known;
  if (keys.size >= MOST_KEYS) keys.clear();
  const key = webCrypto()
    .importKey("jwk", JSON.parse(jwk) as JsonWebKey, P256, false, ["verify"])
    .catch(() => undefined);
  keys.set(jwk, key);
  return key;
}

function webCrypto(): SubtleCrypto {
  const subtle = (globalThis as { crypto?: Crypto }).crypto?.subtle;
  if (subtle === undefined) {
    throw new RailgateError("unsupported", "Web Crypto is not available; in a browser it needs a page served from https or localhost");
  }
  return subtle;
}
