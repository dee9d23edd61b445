/** Where locked keys are kept: a database of their own, beside that of keys that no passkey locks. */

import { StorageError } from "railgate/client";
import type { Kept } from "railgate/client";
import type { Passkey } from "./ceremony";

/** A locked key at rest: without its passkey nobody can sign with it, this page included. */
export interface Locked {
  readonly passkey: Passkey;
  /** The private key (PKCS #8), encrypted. */
  readonly wrapped: ArrayBuffer;
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly publicKey: CryptoKey;
  readonly kept: Kept;
}

const DATABASE = "railgate-console-locked";
const STORE = "keys";

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(failed(request.error));
  });
}

const failed = (cause: unknown): StorageError => new StorageError("storage_failed", "the browser's storage failed", { cause });

/** Runs `work` in one transaction; resolves once that is durable, to what the request of `work` found. */
async function within<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest): Promise<T> {
  const database = await open();
  try {
    return await new Promise<T>((resolve, reject) => {
      // A key that is lost after its enrolment cannot be made again.
      const transaction = database.transaction(STORE, mode, { durability: "strict" });
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result as T);
      transaction.onabort = () => reject(failed(transaction.error));
    });
  } finally {
    database.close();
  }
}

export const readLocked = (profile: string): Promise<Locked | undefined> => within("readonly", (store) => store.get(profile));

export const addLocked = (profile: string, locked: Locked): Promise<void> => within("readwrite", (store) => store.add(locked, profile));

/** Replaces what is kept beside a key, unless another tab has removed the key. */
export const keepLocked = (profile: string, kept: Kept): Promise<void> =>
  within("readwrite", (store) => {
    const known = store.get(profile);
    known.addEventListener("success", () => {
      const locked = known.result as Locked | undefined;
      if (locked !== undefined) store.put({ ...locked, kept }, profile);
    });
    return known;
  });

export const removeLocked = (profile: string): Promise<void> => within("readwrite", (store) => store.delete(profile));
