/**
 * Passkeys as a source of secrets: WebAuthn's extension `prf` has an authenticator derive 32 bytes from an input, which only this passkey
 * can derive, and only after its user was verified. No server takes part: the bytes never leave this page.
 */

import { RailgateError } from "railgate/client";
import { text } from "../text";

/** What has to be kept to ask a passkey again. Nothing of it is secret. */
export interface Passkey {
  readonly id: Uint8Array<ArrayBuffer>;
  /** What the secret is derived from. */
  readonly input: Uint8Array<ArrayBuffer>;
  /** How the authenticator is reached, as the browser said. */
  readonly transports: readonly string[];
}

type Code = keyof typeof text.signIn.passkey.problems;

/** Why a passkey was not made, or did not unlock a key. */
export class PasskeyError extends RailgateError {
  override readonly name = "PasskeyError";

  constructor(code: Code, cause?: unknown) {
    super(code, text.signIn.passkey.problems[code], { cause });
  }
}

/** Whether passkeys can lock keys here: `address` if not under this address, `browser` if not in this browser. */
export type Support = "ready" | "address" | "browser";

/** Whether passkeys can lock keys here. A browser that does not say is found out when a passkey is made. */
export async function support(): Promise<Support> {
  if (typeof PublicKeyCredential !== "function") return "browser";
  if (isNumeric(location.hostname)) return "address";
  const capabilities = await PublicKeyCredential.getClientCapabilities?.().catch(() => undefined);
  return capabilities?.["extension:prf"] === false ? "browser" : "ready";
}

/** Passkeys belong to names: WebAuthn has no address such as 127.0.0.1 as the party that relies on them. */
const isNumeric = (host: string): boolean => /^[\d.]+$/.test(host) || host.startsWith("[");

const MOST_MS = 120_000;
const BYTES = 32;
/** ES256, EdDSA, RS256: what it signs with does not matter here. */
const ALGORITHMS = [-7, -8, -257];

const random = (): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(BYTES));

interface PrfResults {
  readonly enabled?: boolean;
  readonly results?: { readonly first?: BufferSource };
}

/** Makes a passkey under this name, and returns its secret with it. */
export async function make(name: string): Promise<{ passkey: Passkey; secret: BufferSource }> {
  const input = random();
  const publicKey: PublicKeyCredentialCreationOptions = {
    rp: { name: text.product },
    // A user of its own: otherwise a second passkey would take the place of the first one.
    user: { id: random(), name, displayName: name },
    // Nobody verifies the signature: that the secret opens the key is the proof.
    challenge: random(),
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
    authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
    timeout: MOST_MS,
    extensions: { prf: { eval: { first: input } } },
  };
  const made = await asked(() => navigator.credentials.create({ publicKey }));
  const response = made.response as AuthenticatorAttestationResponse;
  const passkey = { id: new Uint8Array(made.rawId), input, transports: response.getTransports() };
  const prf = prfOf(made);
  if (prf?.enabled !== true) {
    discard(passkey);
    throw new PasskeyError("passkey_unsupported");
  }
  // Many authenticators derive nothing while they make a passkey: then it is asked for at once.
  return { passkey, secret: prf.results?.first ?? (await ask(passkey)) };
}

/** Asks the passkey for its secret; the browser verifies the user. */
export async function ask({ id, input, transports }: Passkey): Promise<BufferSource> {
  const publicKey: PublicKeyCredentialRequestOptions = {
    challenge: random(),
    allowCredentials: [{ type: "public-key", id, transports: transports as AuthenticatorTransport[] }],
    userVerification: "required",
    timeout: MOST_MS,
    extensions: { prf: { eval: { first: input } } },
  };
  const secret = prfOf(await asked(() => navigator.credentials.get({ publicKey })))?.results?.first;
  if (secret === undefined) throw new PasskeyError("passkey_unsupported");
  return secret;
}

const prfOf = (credential: PublicKeyCredential): PrfResults | undefined => credential.getClientExtensionResults().prf;

async function asked(ceremony: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await ceremony();
    if (credential !== null) return credential as PublicKeyCredential;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    // Browsers say the same of a refusal, a timeout and a missing passkey, so that pages learn nothing of the reader.
    if (error.name !== "NotAllowedError" && error.name !== "AbortError") throw new PasskeyError("passkey_failed", error);
  }
  throw new PasskeyError("passkey_refused");
}

/** Tells the browser that a passkey opens nothing any more, so that its manager of passkeys may remove it. */
export function discard({ id }: Passkey): void {
  const credentialId = btoa(String.fromCharCode(...id)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  void PublicKeyCredential.signalUnknownCredential?.({ rpId: location.hostname, credentialId }).catch(() => undefined);
}
