/**
 * Who uses the console: identities of this browser, each with a key that cannot be copied out of it, and the one that is signed in.
 * Tokens stay in memory: a reload signs for a new one.
 */

import { computed, signal } from "@preact/signals";
import type { Environment, OperatorRole, RailgateClient, RailgateError, Signer } from "railgate/client";
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
}

export interface Session {
  readonly identity: Identity;
  readonly api: RailgateClient;
}

const DATABASE = "railgate-console";
const storedIdentities = kept<readonly Identity[]>("identities", []);
const storedCurrent = kept<string>("identity", "");

export const identities = signal(storedIdentities.read());
export const session = signal<Session | undefined>(undefined);
/** Why the chosen identity could not be opened. */
export const failure = signal<RailgateError | undefined>(undefined);
/** The identity that is being opened: the frame around its views is there before the code that signs. */
export const opening = signal<Identity | undefined>(undefined);

/** What signs, and stores keys: most of what the console loads, so it is loaded beside the frame. */
const signing = () => import("railgate/client");
const keys = async (profile: string) => (await import("../shared/vault")).keyVault(DATABASE, profile);

/** The client of the identity that is signed in; views are only shown with one. */
export const api = computed(() => {
  if (session.value === undefined) throw new Error("nobody is signed in");
  return session.value.api;
});

async function connect(profile: string, environment: Environment): Promise<RailgateClient> {
  const [{ RailgateClient }, vault] = await Promise.all([signing(), keys(profile)]);
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
  startLive(client, identity.kind === "client");
}

/** Follows the events of the identity again, which a key without access could not. */
export function resumeLive(): void {
  if (session.value !== undefined) startLive(session.value.api, session.value.identity.kind === "client");
}

/** Leaves the identity, and keeps its key. */
export async function leave(): Promise<void> {
  stopLive();
  const left = session.value;
  session.value = undefined;
  storedCurrent.write("");
  await left?.api.close();
}

/** Opens the identity that was used last. */
export async function resume(): Promise<void> {
  const last = identities.value.find(({ profile }) => profile === storedCurrent.read());
  if (last === undefined) void signing();
  else await use(last);
}

/** Signs in with an identity of this browser. */
export async function use(identity: Identity): Promise<void> {
  opening.value = identity;
  await leave();
  try {
    enter(identity, await connect(identity.profile, identity.environment));
  } catch (error) {
    failure.value = error as RailgateError;
  }
  opening.value = undefined;
}

/** Makes a key and enrols it as a new sandbox client's; returns the secret of webhooks, which is shown once. */
export async function enrollClient(name: string, invitation: string): Promise<string | undefined> {
  const profile = crypto.randomUUID();
  const client = await connect(profile, "sandbox");
  const enrolled = await attempt(client, client.enroll(name, invitation === "" ? {} : { invitation }));
  await leave();
  const identity = { profile, kind: "client", environment: "sandbox", name, id: enrolled.client_id } as const;
  remember(identity);
  enter(identity, client);
  return enrolled.webhook_secret;
}

/** Makes a key and enrols it as an operator's. */
export async function enrollOperator(code: string, name: string): Promise<void> {
  const profile = crypto.randomUUID();
  const client = await connect(profile, "live");
  const { operator } = await attempt(client, client.enrollOperator(code, name === "" ? undefined : name));
  await leave();
  const identity = { profile, kind: "operator", environment: "live", name: operator.name, id: operator.id, role: operator.role } as const;
  remember(identity);
  enter(identity, client);
}

/** Makes a key and asks for live access for it, signed by the sandbox client that is signed in. */
export async function askForLive(name: string): Promise<Identity> {
  const profile = crypto.randomUUID();
  const key: Signer = await (await keys(profile)).signer();
  const { client_id: id } = await api.value.enrollLive(key);
  const identity = { profile, kind: "client", environment: "live", name, id } as const;
  remember(identity);
  return identity;
}

/** The result of an enrolment; if it failed, its key is useless and goes. */
async function attempt<T>(client: RailgateClient, enrolment: Promise<T>): Promise<T> {
  try {
    return await enrolment;
  } catch (error) {
    await client.forget().catch(() => undefined);
    throw error;
  }
}

/** Deletes the key of an identity from this browser; revokes it at the gateway too if asked to. */
export async function forget(identity: Identity, revoke: boolean): Promise<void> {
  const current = session.value?.identity.profile === identity.profile ? session.value.api : undefined;
  const client = current ?? (await connect(identity.profile, identity.environment));
  if (revoke) await client.revokeKey(client.keyId);
  if (current !== undefined) stopLive();
  // Without a network the token expires by itself; the key goes in any case.
  await client.forget().catch(() => undefined);
  identities.value = identities.value.filter(({ profile }) => profile !== identity.profile);
  storedIdentities.write(identities.value);
  if (current !== undefined) {
    session.value = undefined;
    storedCurrent.write("");
  }
}
