/**
 * Where a client keeps its key and its session between two visits: IndexedDB, which stores keys that cannot be read.
 *
 * @module
 */

import * as check from "../check.js";
import { StorageError } from "../errors.js";
import type { KeyPair, Signer } from "./signer.js";
import { generateKeyPair, generateSigner, webCryptoSigner } from "./signer.js";

/** What is kept beside the key. It holds an access token, which is useless without the key. */
export interface Kept {
  /** The session: token and challenge. */
  readonly session?: string;
  /** The client's id, once it is enrolled. */
  readonly clientId?: string | undefined;
  /** The thumbprint of the key whose session and client these are; of another key they say nothing. */
  readonly keyId?: string;
}

/** A place for a key and a session. */
export interface Vault {
  /** The key; made when it is first asked for. */
  signer(): Promise<Signer>;
  /** What was kept. */
  read(): Promise<Kept>;
  /** Keeps this instead. */
  write(kept: Kept): Promise<void>;
  /** Forgets all of it, the key too. */
  clear(): Promise<void>;
}

/** A vault that lasts as long as this page or process. Once it was cleared, it makes a key of its own. */
export function memoryVault(signer: Signer): Vault {
  let kept: Kept = {};
  let key: Promise<Signer> | undefined = Promise.resolve(signer);
  return {
    signer: () => (key ??= generateSigner()),
    read: () => Promise.resolve(kept),
    write(next) {
      kept = next;
      return Promise.resolve();
    },
    clear() {
      kept = {};
      key = undefined;
      return Promise.resolve();
    },
  };
}

/** Which one, where a page keeps several. */
export interface VaultOptions {
  /** The database's name; `railgate-client` by default. */
  readonly database?: string;
  /** Which key in it; `default` by default. Use another one for another server or user. */
  readonly profile?: string;
}

const STORE = "vault";

/**
 * A vault in IndexedDB. The private key is stored as a `CryptoKey` that cannot be exported: a copy of the database's values
 * is no copy of the key. Tabs of one origin share it.
 */
export function indexedDbVault(options: VaultOptions = {}): Vault {
  const database = check.filled(options.database ?? "railgate-client", "database");
  const profile = check.filled(options.profile ?? "default", "profile");
  const keyName = `key/${profile}`;
  const keptName = `session/${profile}`;
  let opened: Promise<IDBDatabase> | undefined;
  const db = (): Promise<IDBDatabase> => {
    opened ??= open(database, () => (opened = undefined)).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    async signer() {
      const connection = await db();
      const known = await get(connection, keyName);
      // Two tabs may be here at once: the first key stays, both get it.
      const pair = known ?? (await addOnce(connection, keyName, await generateKeyPair()));
      return webCryptoSigner(pair as KeyPair);
    },
    async read() {
      return ((await get(await db(), keptName)) as Kept | undefined) ?? {};
    },
    async write(kept) {
      await change(await db(), (store) => {
        // Another tab may have forgotten the key: nothing is kept beside none.
        const known = store.getKey(keyName);
        known.onsuccess = () => {
          if (known.result !== undefined) store.put(kept, keptName);
        };
      });
    },
    async clear() {
      await change(await db(), (store) => {
        store.delete(keyName);
        store.delete(keptName);
      });
    },
  };
}

function open(name: string, closed: () => void): Promise<IDBDatabase> {
  const factory = (globalThis as { indexedDB?: IDBFactory }).indexedDB;
  if (factory === undefined) {
    throw new StorageError("storage_unavailable", "there is no IndexedDB here; give a signer or a vault of your own");
  }
  return new Promise((resolve, reject) => {
    const request = attempt(() => factory.open(name, 1));
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onerror = () => reject(failed(request.error));
    request.onsuccess = () => {
      const connection = request.result;
      // Another page deletes the database or has a newer version of it: make room, and open anew when asked.
      connection.onversionchange = () => {
        connection.close();
        closed();
      };
      connection.onclose = closed;
      resolve(connection);
    };
  });
}

/** What is refused at once, as in a sandboxed frame or by a connection that is closed, is one of our errors, too. */
function attempt<T>(ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    throw failed(error as DOMException);
  }
}

function failed(cause: DOMException | null): StorageError {
  if (cause?.name === "SecurityError") {
    const advice = "the browser lets this page store nothing; give a signer or a vault of your own";
    return new StorageError("storage_unavailable", advice, { cause });
  }
  const code = cause?.name === "QuotaExceededError" ? "storage_quota" : "storage_failed";
  return new StorageError(code, "the browser's storage did not take or give what was asked", { cause });
}

function get(connection: IDBDatabase, name: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const request = attempt(() => connection.transaction(STORE, "readonly")).objectStore(STORE).get(name);
    request.onsuccess = () => resolve(request.result as unknown);
    request.onerror = () => reject(failed(request.error));
  });
}

function change(connection: IDBDatabase, act: (store: IDBObjectStore) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = attempt(() => connection.transaction(STORE, "readwrite", { durability: "strict" }));
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(failed(transaction.error));
    act(transaction.objectStore(STORE));
  });
}

/** Keeps `value` unless there is one already; gives the one that is kept. */
async function addOnce(connection: IDBDatabase, name: string, value: unknown): Promise<unknown> {
  let kept = value;
  await change(connection, (store) => {
    const request = store.get(name);
    request.onsuccess = () => {
      if (request.result === undefined) store.put(value, name);
      else kept = request.result as unknown;
    };
  });
  return kept;
}
