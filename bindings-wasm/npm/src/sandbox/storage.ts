/**
* The storage of a sandbox: a snapshot, the journal since then, and answers that other tabs may request again.
 * {@link Storage.append} is the only write; it is atomic, and durable before it resolves.
 */

/** The complete durable state, as of one read. */
export interface Stored {
  /** Distinguishes this sandbox from earlier and later ones with the same name. */
  readonly era: string;
  /** The number of the newest group; 0 if nothing was ever written. */
  readonly last: number;
  /** The id of the keeper that wrote that group. */
  readonly by: string | undefined;
  /** The state up to a group; absent as long as the journal is complete. */
  readonly snapshot: Uint8Array | undefined;
  /** The journal groups after the snapshot, in order, joined. */
  readonly journal: Uint8Array | undefined;
  /** Answers given to other tabs. */
  readonly answers: readonly KeptAnswer[];
}

/** An answer stored with its effect, so that a call repeated after a change of leader is not executed twice. */
export interface KeptAnswer {
  /** The id of the call, unique over all tabs. */
  readonly call: string;
  /** When the answer was given, Unix milliseconds. */
  readonly at: number;
  /** The gateway's answer, as it wrote it. */
  readonly answer: string;
}

/** Changes that become durable together. */
export interface Group {
  /** The group's number: must be one more than the newest stored one, otherwise nothing is written. */
  readonly number: number;
  /** The id of the keeper that writes it, unique over all tabs. */
  readonly by: string;
  /** Whole journal entries, joined; empty if there is only an answer to store. */
  readonly entries: Uint8Array;
  /** Answers to store with it. */
  readonly answers: readonly KeptAnswer[];
  /** The complete state including this group; it replaces the journal. */
  readonly snapshot: Uint8Array | undefined;
  /** With a snapshot, stored answers older than this are deleted, Unix milliseconds. */
  readonly forgetBefore: number;
}

/** Stores a sandbox's state. */
export interface Storage {
  /** Reads everything. Rejects with a {@link StorageError} with code `storage_corrupt` if data is missing or damaged. */
  load(): Promise<Stored>;
  /**
   * Writes one group. If it rejects, with a {@link StorageError}, nothing of the group was written, except that with the code
   * `storage_failed` the group may have been written: call {@link Storage.load} to find out.
   */
  append(group: Group): Promise<void>;
  /** Releases the storage; later calls reject. */
  close(): void;
  /** Called once if the storage becomes unusable, for example because a newer version of the package took it over. */
  onlost: ((error: Error) => void) | undefined;
}

/** Concatenates byte arrays. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
