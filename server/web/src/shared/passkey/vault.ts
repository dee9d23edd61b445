/**
 * Keys that a passkey locks. At rest there is the private key encrypted with a key that HKDF derives from the secret of the passkey, and
 * what is needed to ask the passkey. Unlocked, it is a `CryptoKey` in the memory of this page that nobody can copy.
 */

import { type KeyPair, type Kept, type Signer, StorageError, type Vault, webCryptoSigner } from "railgate/client";
import { text } from "../text";
import { PasskeyError, ask, discard, make } from "./ceremony";
import { type Locked, addLocked, keepLocked, readLocked, removeLocked } from "./records";

const P256 = { name: "ECDSA", namedCurve: "P-256" } as const;
const FORMAT = "pkcs8";
const PURPOSE = new TextEncoder().encode("railgate-console/signing-key/v1");
const IV_BYTES = 12;

/** Makes a passkey, and a new key that it locks; the key stays unlocked in this vault. If the passkey is not made, nothing is. */
export async function makeLocked(profile: string, name: string): Promise<Vault> {
  const { passkey, secret } = await make(name);
  const wrapping = await wrappingKey(secret);
  // Extractable until it is wrapped: what signs is unwrapped from what was stored, and is not.
  const { privateKey, publicKey } = await crypto.subtle.generateKey(P256, true, ["sign", "verify"]);
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const wrapped = await crypto.subtle.wrapKey(FORMAT, privateKey, wrapping, await sealed(iv, publicKey));
  const locked: Locked = { passkey, wrapped, iv, publicKey, kept: {} };
  await addLocked(profile, locked);
  return vaultOf(profile, await unwrap(locked, wrapping));
}

/** The vault of a locked key: asks for its passkey when somebody signs. */
export const lockedVault = (profile: string): Vault => vaultOf(profile, undefined);

function vaultOf(profile: string, unlocked: KeyPair | undefined): Vault {
  const known = async (): Promise<Locked> => {
    const locked = await readLocked(profile);
    if (locked === undefined) throw new StorageError("storage_lost", text.signIn.passkey.gone);
    return locked;
  };
  return {
    async signer(): Promise<Signer> {
      return webCryptoSigner(unlocked ?? (await unlock(await known())));
    },
    read: async () => (await known()).kept,
    // The session has a token: it is not written anywhere.
    write: ({ clientId, keyId }: Kept) => keepLocked(profile, { clientId, ...(keyId === undefined ? {} : { keyId }) }),
    async clear() {
      const locked = await readLocked(profile);
      await removeLocked(profile);
      if (locked !== undefined) discard(locked.passkey);
    },
  };
}

async function unlock(locked: Locked): Promise<KeyPair> {
  return unwrap(locked, await wrappingKey(await ask(locked.passkey)));
}

async function wrappingKey(secret: BufferSource): Promise<CryptoKey> {
  const base = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveKey"]);
  const how = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: PURPOSE };
  return crypto.subtle.deriveKey(how, base, { name: "AES-GCM", length: 256 }, false, ["wrapKey", "unwrapKey"]);
}

/** The public key is sealed with the private one: neither can be exchanged alone. */
async function sealed(iv: Uint8Array<ArrayBuffer>, publicKey: CryptoKey): Promise<AesGcmParams> {
  return { name: "AES-GCM", iv, additionalData: await crypto.subtle.exportKey("raw", publicKey) };
}

async function unwrap({ wrapped, iv, publicKey }: Locked, wrapping: CryptoKey): Promise<KeyPair> {
  try {
    const how = await sealed(iv, publicKey);
    return { publicKey, privateKey: await crypto.subtle.unwrapKey(FORMAT, wrapped, wrapping, how, P256, false, ["sign"]) };
  } catch (error) {
    throw new PasskeyError("passkey_wrong", error);
  }
}
