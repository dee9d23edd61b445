/**
* Stores a client's key and session between two visits, in IndexedDB, which can store non-extractable keys.
 *
 * @module
 */

import * as check from "../check.js";
import { StorageError } from "../errors.js";
import type { KeyPair, Signer } from "./signer.js";
import { generateKeyPair, generateSigner, webCryptoSigner } from "./signer.js";

/** The data stored beside the key. It contains an access token, which is useless without the key. */
export interface Kept {
  /** The serialised session: token and challenge. */
  readonly session?: string;
  /** The client's id, once it is enrolled. */
  readonly clientId?: string | undefined;
  /** The thumbprint of the key that session and client belong to; with another key they are ignored. */
  readonly keyId?: string;
}

/** A store for a key and a session. */
export interface Vault {
  /** Returns the key; the first call makes it. */
  signer(): Promise<Signer>;
  /** Returns the stored data; empty if there is none. */
  read(): Promise<Kept>;
  /** Replaces the stored data. */
  write(kept: Kept): Promise<void>;
  /** Deletes everything, including the key. */
  clear(): Promise<void>;
}

/** A vault that lasts as long as this page or process. After `clear`, it makes a new key. */
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

/** Selects a vault, for pages that need several. */
export interface VaultOptions {
  /** The database's name; `railgate-client` by default. */
  readonly database?: string;
  /** The key's name in the database; `default` by default. Use another one for another server or user. */
  readonly profile?: string;
}

const STORE = "vault";

/**
* A vault in IndexedDB. The private key is stored as a non-extractable `CryptoKey`, so a copy of the database's values does not
 * contain it. Tabs of one origin share it.
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
      // Two tabs may do this at once: the first key is kept, and both get it.
      const pair = known ?? (await addOnce(connection, keyName, await generateKeyPair()));
      return webCryptoSigner(pair as KeyPair);
    },
    async read() {
      return ((await get(await db(), keptName)) as Kept | undefined) ?? {};
    },
    async write(kept) {
      await change(await db(), (store) => {
        // Another tab may have deleted the key: then nothing is stored.
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
    throw new StorageError("storage_unavailable", "IndexedDB is not available; pass a signer or another vault");
  }
  return new Promise((resolve, reject) => {
    const request = attempt(() => factory.open(name, 1));
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onerror = () => reject(failed(request.error));
    request.onsuccess = () => {
      const connection = request.result;
      // Another page deletes the database or has a newer version of it: close, and reopen on the next use.
      connection.onversionchange = () => {
        connection.close();
        closed();
      };
      connection.onclose = closed;
      resolve(connection);
    };
  });
}

/** Converts synchronous errors, such as in a sandboxed frame or on a closed connection, to ours. */
function attempt<T>(ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    throw failed(error as DOMException);
  }
}

function failed(cause: DOMException | null): StorageError {
  if (cause?.name === "SecurityError") {
    const advice = "this page may not store anything; pass a signer or another vault";
    return new StorageError("storage_unavailable", advice, { cause });
  }
  const code = cause?.name === "QuotaExceededError" ? "storage_quota" : "storage_failed";
  return new StorageError(code, "the browser's storage failed", { cause });
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

/** Stores `value` unless there is one already; returns the stored one. */
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
