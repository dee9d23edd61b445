/** Assembles a sandbox from module, storage and seed. */

import { loadGateway } from "#load/gateway";
import { Alone } from "./alone.js";
import { openIndexedDb } from "./indexeddb.js";
import type { OpenGateway } from "./keeper.js";
import { MemoryStorage } from "./memory.js";
import type { Port } from "./port.js";
import { Tab } from "./tab.js";

/** Validated options of a sandbox. */
export interface PortOptions {
  readonly name: string;
  readonly memory: boolean;
  readonly seed: Uint8Array | undefined;
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
}

/** Loads the module and returns a function that opens gateways. */
export async function openGateway(): Promise<OpenGateway> {
  const { Gateway } = await loadGateway();
  return (seed, now, snapshot, journal) => Gateway.open("{}", seed, now, snapshot, journal);
}

/** Opens the port to a gateway, in memory here or in the leading tab. */
export async function openPort({ name, memory, seed, now, signal }: PortOptions): Promise<Port> {
  signal?.throwIfAborted();
  const open = await openGateway();
  signal?.throwIfAborted();
  const parts = { open, now, seed: (last: number) => seedFor(seed, last), automatic: true };
  return memory
    ? Alone.open({ ...parts, storage: new MemoryStorage() })
    : Tab.open({ ...parts, name, signal, storage: () => openIndexedDb(name) });
}

/**
* The seed of a gateway that continues after group `last` of its journal. A new sandbox uses a given seed as it is; later
 * it is hashed with the group's number, so that values drawn after a reload differ from earlier ones.
 */
export async function seedFor(given: Uint8Array | undefined, last: number): Promise<Uint8Array> {
  if (given === undefined) return crypto.getRandomValues(new Uint8Array(32));
  if (last === 0) return given;
  const stretched = new Uint8Array(given.length + 8);
  stretched.set(given);
  new DataView(stretched.buffer).setBigUint64(given.length, BigInt(last));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", stretched));
}
