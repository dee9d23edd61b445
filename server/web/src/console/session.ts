/**
 * Who uses the console: identities of this browser, each with a key that cannot be copied out of it, and the one that is signed in.
 * Tokens stay in memory: a reload signs for a new one.
 */

import { computed, signal } from "@preact/signals";
import type { Environment, OperatorRole, RailgateClient, RailgateError, Vault } from "railgate/client";
import { isRefusal, problemOf } from "../shared/act";
import { kept } from "../shared/kept";
import { answered, startLive, stopLive, unanswered } from "./live";

/** What this browser knows of an identity. Nothing of it is secret. */
export interface Identity {
  /** The name of its key in this browser. */
  readonly profile: string;
  readonly kind: "client" | "operator";
  readonly environment: Environment;
  readonly name: string;
  /** The client's id (`cli_…`) or the operator's (`opr_…`). */
  readonly id: string;
  /** The role of an operator. */
  readonly role?: OperatorRole;
  /** Whether a passkey locks its key. */
  readonly locked?: true;
}

export interface Session {
  readonly identity: Identity;
  readonly api: RailgateClient;
}

const DATABASE = "railgate-console";
const storedIdentities = kept<readonly Identity[]>("identities", []);
const storedCurrent = kept<string>("identity", "");
/** Profiles of keys whose enrolment got no answer, by what they were made for: they may be enrolled, so the next attempt goes on with them. */
const storedEnrolling = kept<Readonly<Record<string, string>>>("enrolling", {});

export const identities = signal(storedIdentities.read());
export const session = signal<Session | undefined>(undefined);
/** Why the chosen identity could not be opened. */
export const failure = signal<RailgateError | undefined>(undefined);
/** The identity that is being opened: the frame around its views is there before the code that signs. */
export const opening = signal<Identity | undefined>(undefined);

/** What signs, and stores keys: most of what the console loads, so it is loaded beside the frame. */
const signing = () => import("railgate/client");
const plainVault = async (profile: string): Promise<Vault> => (await import("../shared/vault")).keyVault(DATABASE, profile);
const locking = () => import("../shared/passkey/vault");

/** The vault of an identity. */
async function vaultOf({ profile, locked }: Pick<Identity, "profile" | "locked">): Promise<Vault> {
  return locked === true ? (await locking()).lockedVault(profile) : plainVault(profile);
}

/** The vault of a new key; with a `passkey` of this name, it is made first, and locks the key. */
async function newVault(profile: string, passkey: string | undefined): Promise<Vault> {
  return passkey === undefined ? plainVault(profile) : (await locking()).makeLocked(profile, passkey);
}

/** What an identity says of its lock. */
const lockedBy = (passkey: string | undefined): Pick<Identity, "locked"> => (passkey === undefined ? {} : { locked: true });

/** The client of the identity that is signed in; views are only shown with one. */
export const api = computed(() => {
  if (session.value === undefined) throw new Error("nobody is signed in");
  return session.value.api;
});

async function connect(vault: Vault, environment: Environment): Promise<RailgateClient> {
  const { RailgateClient } = await signing();
  return RailgateClient.open({ baseUrl: location.origin, environment, vault, hooks: { after: answered, error: unanswered } });
}

function remember(identity: Identity): void {
  identities.value = [...identities.value.filter(({ profile }) => profile !== identity.profile), identity];
  storedIdentities.write(identities.value);
}

function enter(identity: Identity, client: RailgateClient): void {
  storedCurrent.write(identity.profile);
  failure.value = undefined;
  session.value = { identity, api: client };
  startLive(client, identity.kind);
}

/** Follows the events of the identity again, which a key without access could not. */
export function resumeLive(): void {
  if (session.value !== undefined) startLive(session.value.api, session.value.identity.kind);
}

/** Leaves the identity, and keeps its key. */
export async function leave(): Promise<void> {
  stopLive();
  const left = session.value;
  session.value = undefined;
  storedCurrent.write("");
  await left?.api.close();
}

/** Opens the identity that was used last. A locked one waits for its owner: browsers show passkeys to those who asked for them. */
export async function resume(): Promise<void> {
  const last = identities.value.find(({ profile }) => profile === storedCurrent.read());
  if (last === undefined || last.locked === true) void signing();
  else await use(last);
}

/** Signs in with an identity of this browser. */
export async function use(identity: Identity): Promise<void> {
  opening.value = identity;
  await leave();
  try {
    enter(identity, await connect(await vaultOf(identity), identity.environment));
  } catch (error) {
    failure.value = problemOf(error);
  }
  opening.value = undefined;
}

/**
 * Makes a key and enrols it as a new sandbox client's; returns the secret of webhooks, which is shown once.
 *
 * @param passkey - The name of the passkey that locks the key, if one does.
 */
export async function enrollClient(name: string, invitation: string, passkey?: string): Promise<string | undefined> {
  return enrolled("client", passkey, async (key, vault) => {
    const [client, enrollment] = await opened(vault, "sandbox", (one) => one.enroll(name, invitation === "" ? {} : { invitation }));
    await leave();
    const identity = { ...key, kind: "client", environment: "sandbox", name, id: enrollment.client_id } as const;
    remember(identity);
    enter(identity, client);
    return enrollment.webhook_secret;
  });
}

/** Makes a key and enrols it as an operator's; `passkey` as in {@link enrollClient}. */
export async function enrollOperator(code: string, name: string, passkey?: string): Promise<void> {
  return enrolled("operator", passkey, async (key, vault) => {
    const [client, { operator }] = await opened(vault, "live", (one) => one.enrollOperator(code, name === "" ? undefined : name));
    await leave();
    const identity = { ...key, kind: "operator", environment: "live", name: operator.name, id: operator.id, role: operator.role } as const;
    remember(identity);
    enter(identity, client);
  });
}

/** Makes a key and asks for live access for it, signed by the sandbox client that is signed in; `passkey` as in {@link enrollClient}. */
export async function askForLive(name: string, passkey?: string): Promise<Identity> {
  const client = api.value;
  return enrolled(`live ${client.keyId}`, passkey, async (key, vault) => {
    const { client_id: id } = await client.enrollLive(await vault.signer());
    const identity = { ...key, kind: "client", environment: "live", name, id } as const;
    remember(identity);
    return identity;
  });
}

/**
 * Locks the client that is signed in with a passkey: a new key takes the place of its key, which cannot be copied, and so not be locked
 * either. The old key signs for the new one, which then revokes it. Until the new key is enrolled, nothing has changed; if the old one cannot
 * be revoked then, both are there.
 */
export async function lock(passkey: string): Promise<void> {
  if (session.value === undefined) return;
  const { identity, api: old } = session.value;
  const [locked, client] = await enrolled(`lock ${old.keyId}`, passkey, async (key, vault) => {
    await old.addKey(await vault.signer(), passkey);
    const replaced = { ...identity, ...key };
    remember(replaced);
    return [replaced, await connect(vault, identity.environment)] as const;
  });
  await client.revokeKey(old.keyId);
  opening.value = locked;
  await leave();
  enter(locked, client);
  opening.value = undefined;
  await drop(identity);
}

type NewKey = Pick<Identity, "profile" | "locked">;

/**
 * The result of an enrolment of a new key, made `purpose`: the same key at each attempt until there is an answer, because an enrolment
 * whose answer got lost may have been done. A key that was refused is useless and goes.
 */
async function enrolled<T>(purpose: string, passkey: string | undefined, enrolment: (key: NewKey, vault: Vault) => Promise<T>): Promise<T> {
  const name = passkey === undefined ? purpose : `${purpose} locked`;
  const { [name]: begun } = storedEnrolling.read();
  const key = { profile: begun ?? crypto.randomUUID(), ...lockedBy(passkey) };
  const vault = begun === undefined ? await newVault(key.profile, passkey) : await vaultOf(key);
  storedEnrolling.write({ ...storedEnrolling.read(), [name]: key.profile });
  const settle = (): void => {
    const { [name]: _, ...others } = storedEnrolling.read();
    storedEnrolling.write(others);
  };
  try {
    const result = await enrolment(key, vault);
    settle();
    return result;
  } catch (error) {
    // The client goes on with a key that exists; only one that is of no use here ends with that.
    if (isRefusal(error)) {
      await vault.clear().catch(() => undefined);
      settle();
    }
    throw error;
  }
}

/** A client with the key of a vault, and the result of its enrolment. */
async function opened<T>(
  vault: Vault,
  environment: Environment,
  enrolment: (client: RailgateClient) => Promise<T>,
): Promise<readonly [RailgateClient, T]> {
  const client = await connect(vault, environment);
  try {
    return [client, await enrolment(client)];
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Deletes the key of an identity from this browser; revokes it at the gateway too if asked to, which needs the key. */
export async function forget(identity: Identity, revoke: boolean): Promise<void> {
  const current = session.value?.identity.profile === identity.profile ? session.value.api : undefined;
  const client = current ?? (revoke ? await connect(await vaultOf(identity), identity.environment) : undefined);
  if (revoke) await client?.revokeKey(client.keyId);
  if (current !== undefined) stopLive();
  // Without a network the token expires by itself; the key goes in any case.
  await client?.forget().catch(() => undefined);
  await drop(identity);
  if (current !== undefined) {
    session.value = undefined;
    storedCurrent.write("");
  }
}

/** Removes an identity, and its key, from this browser. */
async function drop(identity: Identity): Promise<void> {
  await (await vaultOf(identity)).clear();
  identities.value = identities.value.filter(({ profile }) => profile !== identity.profile);
  storedIdentities.write(identities.value);
}
