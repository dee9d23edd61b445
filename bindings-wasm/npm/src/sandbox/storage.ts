/**
 * What a sandbox keeps, and how: a snapshot, the journal since, and the answers that other tabs may ask for again.
 * One call of {@link Storage.append} is all or nothing and durable before it resolves; nothing else writes.
 */

/** Everything that is durable, as one reading found it. */
export interface Stored {
  /** Names this sandbox among all that ever had its name. */
  readonly era: string;
  /** The number of the newest group in the journal; 0 when nothing was ever written. */
  readonly last: number;
  /** Who wrote that group. */
  readonly by: string | undefined;
  /** The state up to a group, absent while the journal holds all of it. */
  readonly snapshot: Uint8Array | undefined;
  /** The journal groups after the snapshot, in order, joined. */
  readonly journal: Uint8Array | undefined;
  /** Answers given to other tabs, by the number of their call. */
  readonly answers: readonly KeptAnswer[];
}

/** An answer that is durable with its effect, so that a call repeated after its leader went is not carried out twice. */
export interface KeptAnswer {
  /** Names the call, unique over all tabs. */
  readonly call: string;
  /** When it was given, Unix milliseconds. */
  readonly at: number;
  /** The gateway's answer, as it wrote it. */
  readonly answer: string;
}

/** What becomes durable together. */
export interface Group {
  /** The group's number: one more than the newest that is stored, else nothing is written. */
  readonly number: number;
  /** Names whoever writes it, unique over all tabs. */
  readonly by: string;
  /** Whole journal entries, joined; none where there is only an answer to keep. */
  readonly entries: Uint8Array;
  /** Answers to keep with it. */
  readonly answers: readonly KeptAnswer[];
  /** The whole state with this group in it: takes the place of the journal. */
  readonly snapshot: Uint8Array | undefined;
  /** With a snapshot, kept answers older than this moment go. */
  readonly forgetBefore: number;
}

/** Where a sandbox's state lives. */
export interface Storage {
  /** Reads everything. Rejects with a {@link StorageError} of code `storage_corrupt` when it is not whole. */
  load(): Promise<Stored>;
  /**
   * Writes one group. Rejects with a {@link StorageError}; then nothing of the group was written, except that with the code
   * `storage_failed` it may have been: {@link Storage.load} tells.
   */
  append(group: Group): Promise<void>;
  /** Lets go of it; later calls reject. */
  close(): void;
  /** Called once if the storage is taken away from under its user, such as by a newer version of the package. */
  onlost: ((error: Error) => void) | undefined;
}

/** Joins byte strings. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
