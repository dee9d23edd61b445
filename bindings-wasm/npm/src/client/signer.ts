/**
* Keys whose private half never leaves Web Crypto or another signing device or service.
 *
 * @module
 */

import * as check from "../check.js";
import { RailgateError } from "../errors.js";
import type { PublicJwk } from "../values.js";

const P256 = { name: "ECDSA", namedCurve: "P-256" } as const;
const ES256 = { name: "ECDSA", hash: "SHA-256" } as const;

/** Signs with a P-256 key: Web Crypto, a platform authenticator, a key management service. */
export interface Signer {
  /** The public key as a JWK. */
  readonly publicKey: PublicJwk;
  /** Returns an ECDSA signature with SHA-256 over `data`: 64 bytes, r and s. */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/** A `CryptoKeyPair` of Web Crypto; that type exists only in projects with browser types. */
export interface KeyPair {
  /** The key that signs; it need not be extractable. */
  readonly privateKey: CryptoKey;
  /** The key that is sent to the server; extractable. */
  readonly publicKey: CryptoKey;
}

/** Web Crypto; pages have it only on https and on localhost. */
function subtle(): SubtleCrypto {
  const found = (globalThis as { crypto?: Crypto }).crypto?.subtle;
  if (found === undefined) {
    throw new RailgateError("unsupported", "Web Crypto is not available; in a browser it needs a page served from https or localhost");
  }
  return found;
}

/** A new P-256 key whose private half cannot be read, not even by this page. */
export function generateKeyPair(): Promise<KeyPair> {
  return subtle().generateKey(P256, false, ["sign", "verify"]);
}

/** A signer for a P-256 key pair of Web Crypto (`ECDSA`, with the usage `sign`). */
export async function webCryptoSigner(pair: KeyPair): Promise<Signer> {
  const { privateKey, publicKey } = check.object(pair, "pair") as unknown as KeyPair;
  const { kty, crv, x, y } = await subtle().exportKey("jwk", publicKey);
  if (kty !== "EC" || crv !== "P-256" || x === undefined || y === undefined) {
    throw new TypeError("pair must be a P-256 key pair of Web Crypto");
  }
  return {
    publicKey: { kty, crv, x, y },
    async sign(data) {
      return new Uint8Array(await subtle().sign(ES256, privateKey, new Uint8Array(data)));
    },
  };
}

/** A signer with a new key that exists only in this page or process. */
export async function generateSigner(): Promise<Signer> {
  return webCryptoSigner(await generateKeyPair());
}
