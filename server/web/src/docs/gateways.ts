/** The two gateways that a reader can try: a sandbox in this tab, and the server that serves this page. Each is loaded when it is used. */

import { signal } from "@preact/signals";
import type { Gateway, Sandbox } from "railgate";
import type { RailgateClient } from "railgate/client";

export type Where = "tab" | "server";

/** Where the reader tries things. */
export const where = signal<Where>("tab");
/** The client at the server, once its key has been looked for; it may not be enrolled yet. */
export const client = signal<RailgateClient | undefined>(undefined);
/** The id of the enrolled client (`cli_…`). */
export const enrolledAs = signal<string | undefined>(undefined);

const NAME = "docs";
const DATABASE = "railgate-docs";

let tab: Promise<Sandbox> | undefined;

/** The sandbox of this tab; tabs share it, and it stays until the reader clears the browser's storage. */
export function openTab(): Promise<Sandbox> {
  tab ??= import("railgate").then(({ Sandbox }) => Sandbox.open({ name: NAME }));
  tab.catch(() => (tab = undefined));
  return tab;
}

let server: Promise<RailgateClient> | undefined;

async function connect(): Promise<RailgateClient> {
  const [{ RailgateClient }, { keyVault }] = await Promise.all([import("railgate/client"), import("../shared/vault")]);
  return RailgateClient.open({ baseUrl: location.origin, environment: "sandbox", vault: keyVault(DATABASE, NAME) });
}

/** The client of this browser at the server. */
export async function openServer(): Promise<RailgateClient> {
  server ??= connect();
  server.catch(() => (server = undefined));
  const opened = await server;
  client.value = opened;
  enrolledAs.value = opened.enrolled ? opened.clientId : undefined;
  return opened;
}

/** Enrols the key of this browser as a new sandbox client's. */
export async function enroll(name: string): Promise<void> {
  const opened = await openServer();
  await opened.enroll(name);
  enrolledAs.value = opened.clientId;
}

/** Deletes the key from this browser. Without a network its token expires by itself; the key goes in any case. */
export async function forget(): Promise<void> {
  const opened = await openServer();
  try {
    await opened.forget();
  } finally {
    server = undefined;
    enrolledAs.value = undefined;
    client.value = undefined;
  }
}

/** The gateway that the reader has chosen. */
export const chosen = (): Promise<Gateway> => (where.value === "tab" ? openTab() : openServer());
