/** A sandbox's state in IndexedDB, written durably and atomically. */

import { StorageError } from "../errors.js";
import { storageFailure } from "./errors.js";
import { joined, type Group, type KeptAnswer, type Storage, type Stored } from "./storage.js";

const JOURNAL = "journal";
const STATE = "state";
const ANSWERS = "answers";
const HEAD = "head";
const SNAPSHOT = "snapshot";

/** The error code when the browser deleted the data. */
const LOST = "storage_lost";

/** Describes the stored data; written with every group, so that a missing group is detected. */
interface Head {
  /** Distinguishes this sandbox from earlier and later ones with the same name. */
  readonly era: string;
  /** The number of the newest group. */
  readonly last: number;
  /** The id of the keeper that wrote it. */
  readonly by: string;
  /** The last group in the snapshot; the journal has the later ones. */
  readonly since: number;
  /** The size of the journal in bytes. */
  readonly bytes: number;
}

/** A migration to the next layout. Released migrations never change. */
type Upgrade = (db: IDBDatabase, transaction: IDBTransaction) => void;

/** All migrations; the database's version is their number. */
export const UPGRADES: readonly Upgrade[] = [
  (db) => {
    db.createObjectStore(JOURNAL);
    db.createObjectStore(STATE);
    db.createObjectStore(ANSWERS).createIndex("at", "at");
  },
];

/** The name of a sandbox's database. */
export function databaseName(name: string): string {
  return `railgate:${name}`;
}

/** Deletes a sandbox's database. Tabs that have it open get `storage_erased`. */
export function eraseDatabase(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = begun(() => available().deleteDatabase(databaseName(name)));
    asked.onsuccess = () => resolve();
    asked.onerror = () => reject(storageFailure(asked.error));
  });
}

/** Opens a sandbox's database; creates or migrates it if necessary. */
export async function openIndexedDb(name: string, upgrades: readonly Upgrade[] = UPGRADES): Promise<Storage> {
  const storage = new IndexedDbStorage(() => openDatabase(databaseName(name), upgrades));
  await storage.connect();
  return storage;
}

function available(): IDBFactory {
  if (typeof indexedDB !== "undefined") return indexedDB;
  throw new StorageError("storage_unavailable", 'IndexedDB is not available; open the sandbox with storage: "memory"');
}

/** Converts synchronous errors: some pages, such as those in a sandboxed frame, are refused at once. */
function begun(ask: () => IDBOpenDBRequest): IDBOpenDBRequest {
  try {
    return ask();
  } catch (error) {
    throw storageFailure(error);
  }
}

function openDatabase(name: string, upgrades: readonly Upgrade[]): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const asked = begun(() => available().open(name, upgrades.length));
    let lost = false;
    asked.onupgradeneeded = (event) => {
      const transaction = asked.transaction;
      if (transaction === null) return;
      for (const step of upgrades.slice(event.oldVersion)) step(asked.result, transaction);
      // Only in Chromium: it considered the site's files damaged and deleted them before it opened this database.
      lost = "dataLoss" in event && event.dataLoss === "total";
    };
    asked.onsuccess = () => {
      if (!lost) return resolve(asked.result);
      asked.result.close();
      reject(new StorageError(LOST, "The browser deleted this site's damaged storage; open the sandbox again to get an empty one"));
    };
    asked.onerror = () => reject(storageFailure(asked.error));
  });
}

class IndexedDbStorage implements Storage {
  onlost: ((error: Error) => void) | undefined;
  readonly #open: () => Promise<IDBDatabase>;
  /** Undefined after the browser closed it, because its storage process died or the user cleared the site's data. */
  #db: IDBDatabase | undefined;
  #head: Head = { era: crypto.randomUUID(), last: 0, by: "", since: 0, bytes: 0 };

  constructor(open: () => Promise<IDBDatabase>) {
    this.#open = open;
  }

  async connect(): Promise<void> {
    const db = await this.#open();
    db.onclose = () => {
      this.#db = undefined;
    };
    db.onversionchange = (event) => {
      this.close();
      this.onlost?.(
        event.newVersion === null
          ? erased()
          : new StorageError("storage_version", "A newer version of railgate took over the sandbox in another tab; reload this page"),
      );
    };
    this.#db = db;
  }

  async load(): Promise<Stored> {
    if (this.#db === undefined) await this.#reconnect();
    const { head, stored } = await this.#read();
    if (this.#head.last > 0 && head?.era !== this.#head.era) {
      this.close();
      this.onlost?.(erased());
      throw erased();
    }
    this.#head = head ?? this.#head;
    return { era: this.#head.era, last: this.#head.last, by: this.#head.by, ...stored };
  }

  async #reconnect(): Promise<void> {
    try {
      await this.connect();
    } catch (error) {
      if (error instanceof StorageError && error.code === LOST) this.onlost?.(error);
      throw error;
    }
  }

  #read(): Promise<{ head: Head | undefined; stored: Omit<Stored, "era" | "last" | "by"> }> {
    return new Promise((resolve, reject) => {
      const transaction = this.#begin("readonly");
      const state = transaction.objectStore(STATE);
      const head: IDBRequest<unknown> = state.get(HEAD);
      const snapshot: IDBRequest<unknown> = state.get(SNAPSHOT);
      const numbers = transaction.objectStore(JOURNAL).getAllKeys();
      const groups: IDBRequest<unknown[]> = transaction.objectStore(JOURNAL).getAll();
      const answers: IDBRequest<KeptAnswer[]> = transaction.objectStore(ANSWERS).getAll();
      transaction.onabort = () => reject(storageFailure(transaction.error));
      transaction.oncomplete = () => {
        try {
          resolve({
            head: soundHead(head.result, numbers.result, groups.result, snapshot.result),
            stored: {
              snapshot: snapshot.result instanceof Uint8Array ? snapshot.result : undefined,
              journal: groups.result.length === 0 ? undefined : joined(groups.result.filter((group) => group instanceof Uint8Array)),
              answers: answers.result,
            },
          });
        } catch (error) {
          reject(error);
        }
      };
    });
  }

  append(group: Group): Promise<void> {
    return new Promise((resolve, reject) => {
      const transaction = this.#begin("readwrite");
      let refused: Error | undefined;
      let head = this.#head;
      transaction.onabort = () => reject(refused ?? storageFailure(transaction.error));
      transaction.oncomplete = () => {
        this.#head = head;
        resolve();
      };
      // Requested first, so that the result is there when the group is written: a committing transaction accepts no more requests.
      const old = group.snapshot === undefined ? undefined : answersBefore(transaction, group.forgetBefore);
      const asked: IDBRequest<Head | undefined> = transaction.objectStore(STATE).get(HEAD);
      asked.onsuccess = () => {
        const stored = asked.result ?? this.#head;
        if (stored.last !== group.number - 1 || stored.era !== this.#head.era) {
          // Web Locks let one tab write. If a browser ever lets two, the second changes nothing.
          refused = new StorageError("storage_conflict", "Another tab wrote meanwhile; nothing was saved, try again", {
            retryable: true,
          });
          transaction.abort();
          return;
        }
        try {
          head = write(transaction, stored, group, old?.result ?? []);
          transaction.commit();
        } catch (error) {
          refused = storageFailure(error);
          transaction.abort();
        }
      };
    });
  }

  close(): void {
    this.#db?.close();
    this.#db = undefined;
  }

  #begin(mode: IDBTransactionMode): IDBTransaction {
    try {
      if (this.#db === undefined) throw new DOMException("The database is closed", "InvalidStateError");
      return this.#db.transaction([JOURNAL, STATE, ANSWERS], mode, { durability: "strict" });
    } catch (error) {
      throw storageFailure(error);
    }
  }
}

function erased(): StorageError {
  return new StorageError("storage_erased", "The sandbox was erased; open it again to get an empty one");
}

function write(transaction: IDBTransaction, stored: Head, group: Group, old: readonly IDBValidKey[]): Head {
  const [journal, state, answers] = [JOURNAL, STATE, ANSWERS].map((name) => transaction.objectStore(name)) as [
    IDBObjectStore,
    IDBObjectStore,
    IDBObjectStore,
  ];
  let head: Head;
  if (group.snapshot === undefined) {
    journal.add(group.entries, group.number);
    head = { ...stored, last: group.number, by: group.by, bytes: stored.bytes + group.entries.length };
  } else {
    journal.clear();
    state.put(group.snapshot, SNAPSHOT);
    for (const call of old) answers.delete(call);
    head = { ...stored, last: group.number, by: group.by, since: group.number, bytes: 0 };
  }
  for (const kept of group.answers) answers.put(kept, kept.call);
  state.put(head, HEAD);
  return head;
}

/** The ids of calls whose answers are older than `moment`. */
function answersBefore(transaction: IDBTransaction, moment: number): IDBRequest<IDBValidKey[]> {
  return transaction.objectStore(ANSWERS).index("at").getAllKeys(IDBKeyRange.upperBound(moment, true));
}

/**
* Returns the head if everything that it refers to is present; undefined if nothing was written yet. The gateway checks the
 * contents of the groups.
 */
function soundHead(head: unknown, numbers: readonly IDBValidKey[], groups: readonly unknown[], snapshot: unknown): Head | undefined {
  const corrupt = (what: string): StorageError =>
    new StorageError("storage_corrupt", `The stored sandbox is damaged: ${what}. Nothing was changed; Sandbox.erase deletes it`);
  if (head === undefined) {
    if (numbers.length > 0 || snapshot !== undefined) throw corrupt("the head is missing");
    return undefined;
  }
  if (!isHead(head)) throw corrupt("the head is invalid");
  if (head.since > 0 && !(snapshot instanceof Uint8Array)) throw corrupt("the snapshot is missing");
  if (head.since === 0 && snapshot !== undefined) throw corrupt("there is a snapshot that the head does not mention");
  if (numbers.length !== head.last - head.since || numbers.some((number, i) => number !== head.since + 1 + i)) {
    throw corrupt(`the journal should contain the groups ${head.since + 1} to ${head.last}`);
  }
  const bytes = groups.reduce<number>((sum, group) => sum + (group instanceof Uint8Array ? group.length : Number.NaN), 0);
  if (bytes !== head.bytes) throw corrupt("the journal's length differs from the recorded one");
  return head;
}

function isHead(value: unknown): value is Head {
  if (typeof value !== "object" || value === null) return false;
  const head = value as Partial<Record<keyof Head, unknown>>;
  return (
    typeof head.era === "string" &&
    typeof head.by === "string" &&
    [head.last, head.since, head.bytes].every((n) => typeof n === "number" && Number.isSafeInteger(n) && n >= 0)
  );
}
