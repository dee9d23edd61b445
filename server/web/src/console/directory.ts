/** What calls tell only the id of: who or what it is, read once for whoever is signed in, and looked up where it is not known yet. */

import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type RailgateClient, RailgateError } from "railgate/client";
import { api, session } from "./session";

export interface Directory<T> {
  /** All that is known now. */
  readonly known: ReadonlySignal<ReadonlyMap<string, T>>;
  /** All that is known, once it was read. */
  readonly useAll: () => ReadonlyMap<string, T>;
  /** One of them; looked up if it is not known. */
  readonly useOne: (id: string | null | undefined) => T | undefined;
  /** Reads again, as after a change. */
  readonly read: () => Promise<void>;
}

/** `list` reads what is there, or its first page; `find` reads one that is not in it: without it, the list is read again. */
export function directory<T>(
  idOf: (one: T) => string,
  list: (call: RailgateClient) => Promise<readonly T[]>,
  find?: (call: RailgateClient, id: string) => Promise<T>,
): Directory<T> {
  const known = signal<ReadonlyMap<string, T>>(new Map());
  const listed = signal(false);
  /** Whose it is: another identity of this browser may see something else. */
  let reader: RailgateClient | undefined;
  const asked = new Set<string>();

  async function load(from: (call: RailgateClient) => Promise<readonly T[]>): Promise<void> {
    const call = api.value;
    if (call !== reader) {
      reader = call;
      asked.clear();
      [known.value, listed.value] = [new Map(), false];
    }
    try {
      const found = await from(call);
      if (call !== reader) return;
      known.value = new Map([...known.value, ...found.map((one) => [idOf(one), one] as const)]);
    } catch (error) {
      // Without names there are ids.
      if (!(error instanceof RailgateError)) throw error;
    }
    if (call === reader) listed.value = true;
  }

  const read = (): Promise<void> => load(list);
  const lookUp = (id: string): Promise<void> => (find === undefined ? read() : load(async (call) => [await find(call, id)]));

  function useAll(): ReadonlyMap<string, T> {
    const now = session.value?.api;
    useEffect(() => {
      if (now !== undefined && now !== reader) void read();
    }, [now]);
    return known.value;
  }

  function useOne(id: string | null | undefined): T | undefined {
    const all = useAll();
    const isMissing = listed.value && id !== null && id !== undefined && !all.has(id);
    useEffect(() => {
      if (!isMissing || asked.has(id)) return;
      asked.add(id);
      void lookUp(id);
    }, [id, isMissing]);
    return id === null || id === undefined ? undefined : all.get(id);
  }

  return { known, useAll, useOne, read };
}
