/**
 * Keys: a private half that never leaves WebCrypto, or any other place that signs.
 *
 * @module
 */

import * as check from "../check.js";
import { RailgateError } from "../errors.js";
import type { PublicJwk } from "../values.js";

const P256 = { name: "ECDSA", namedCurve: "P-256" } as const;
const ES256 = { name: "ECDSA", hash: "SHA-256" } as const;

/** Something that signs with a P-256 key: WebCrypto, a passkey's platform, a key management service. */
export interface Signer {
  /** The public half. */
  readonly publicKey: PublicJwk;
  /** ECDSA with SHA-256 over `data`: 64 bytes, r and s. */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/** A key pair of WebCrypto: what it calls `CryptoKeyPair`, which only projects with the types of a browser have. */
export interface KeyPair {
  /** Signs. */
  readonly privateKey: CryptoKey;
  /** Goes to the server. */
  readonly publicKey: CryptoKey;
}

/** WebCrypto, which pages have on https and on localhost. */
function subtle(): SubtleCrypto {
  const found = (globalThis as { crypto?: Crypto }).crypto?.subtle;
  if (found === undefined) {
    throw new RailgateError("unsupported", "WebCrypto is not here; in a browser it needs a page of https or of localhost");
  }
  return found;
}

/** A new P-256 key whose private half cannot be read, not even by this page. */
export function generateKeyPair(): Promise<KeyPair> {
  return subtle().generateKey(P256, false, ["sign", "verify"]);
}

/** A signer of a P-256 key pair of WebCrypto (`ECDSA`, with the usage `sign`). */
export async function webCryptoSigner(pair: KeyPair): Promise<Signer> {
  const { privateKey, publicKey } = check.object(pair, "pair") as unknown as KeyPair;
  const { kty, crv, x, y } = await subtle().exportKey("jwk", publicKey);
  if (kty !== "EC" || crv !== "P-256" || x === undefined || y === undefined) {
    throw new TypeError("pair must be a P-256 key pair of WebCrypto");
  }
  return {
    publicKey: { kty, crv, x, y },
    async sign(data) {
      return new Uint8Array(await subtle().sign(ES256, privateKey, new Uint8Array(data)));
    },
  };
}

/** A signer with a new key that lives as long as this page or process. */
export async function generateSigner(): Promise<Signer> {
  return webCryptoSigner(await generateKeyPair());
}
