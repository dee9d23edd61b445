/**
 * Keeps one gateway and its storage together: calls that wait together are carried out together and become durable in
 * one write, and no answer leaves before that. When a write fails, the gateway in memory is thrown away and read again
 * from what is durable, so that memory never knows more than the disk.
 */

import { StorageError } from "../errors.js";
import { thrown } from "../problem.js";
import { asError, lostWithOthers, openingFailure, outcomeUnknown } from "./errors.js";
import type { KeptAnswer, Storage, Stored } from "./storage.js";

/** The engine, as the WebAssembly module offers it. Times are Unix milliseconds. */
export interface Gateway {
  /** Carries out one request (JSON text) and gives its answer (JSON text). */
  call(now: number, request: string): string;
  /** Does what is due; `{"due": ms | null, "done": n}`. */
  work(now: number): string;
  /** What changed since the last time, in whole journal entries; undefined when nothing did. */
  take_journal(): Uint8Array | undefined;
  /** The whole state; nothing before it is in the journal any more. */
  snapshot(): Uint8Array;
  /** Gives its memory back. */
  free(): void;
}

/** Makes a gateway from what is durable. */
export type OpenGateway = (seed: Uint8Array, now: number, snapshot?: Uint8Array, journal?: Uint8Array) => Gateway;

/** A call that waits for its answer. */
export interface Waiting {
  /** The request, JSON text; undefined asks for what is due to be done. */
  readonly request: string | undefined;
  /** Keeps the answer under this name, for the case that the caller asks again: what has one name is carried out once. */
  readonly keep: string | undefined;
  /** When anybody was asked for it first, Unix milliseconds: what was asked long ago may have been done, and its answer forgotten. */
  readonly since: number | undefined;
  /** Whoever asked does not want it any more; it is left out if it has not begun. */
  readonly signal: AbortSignal | undefined;
  resolve(answer: string): void;
  reject(error: Error): void;
}

/** What a keeper is made of. */
export interface Parts {
  readonly open: OpenGateway;
  readonly storage: Storage;
  /** The host's clock, Unix milliseconds. */
  readonly now: () => number;
  /** The seed of a gateway that continues after this group of the journal. */
  readonly seed: (last: number) => Uint8Array | Promise<Uint8Array>;
  /** Does tasks when they are due; without it only {@link Keeper.work} does. */
  readonly automatic: boolean;
  /** Something became durable, the group `last`; `due` is when the next task is. */
  readonly changed: (due: number | undefined, last: number) => void;
  /** The storage was taken away; every call from now on hears why. */
  readonly lost: (error: Error) => void;
}

/** How long a page may be kept busy before it gets its turn. */
const SLICE_MS = 12;
/** How long an answer can be asked for again. */
const KEEP_MS = 600_000;
/** A minute less: an answer that may have been forgotten just now is not looked for. */
const SURELY_KEPT_MS = KEEP_MS - 60_000;
/** Journal and kept answers may grow by this, or by the size of the snapshot, before a new snapshot takes the journal's place. */
const COMPACT_BYTES = 512 * 1024;
/** When due tasks could not be done: the first wait before another try, and the longest; each is twice the one before. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** How often in a row a group is retried because another tab was faster. */
const MOST_CONFLICTS = 5;
/** The longest that `setTimeout` can wait. */
const LONGEST_MS = 2_147_483_647;

/** A gateway with its storage. */
export class Keeper {
  readonly #parts: Parts;
  /** Not of `crypto.randomUUID`, which pages without a secure context lack. */
  readonly #id = crypto.getRandomValues(new Uint32Array(4)).join("-");
  #gateway: Gateway | undefined;
  #era = "";
  #last = 0;
  /** The newest group that was there when the storage was read, and whose it is. */
  #found: Pick<Stored, "last" | "by"> = { last: 0, by: undefined };
  /** The newest group that another tab reported. */
  #heard = 0;
  /** Of journal and kept answers, since the snapshot. */
  #grownBytes = 0;
  #snapshotBytes = 0;
  readonly #answers = new Map<string, KeptAnswer>();
  #waiting: Waiting[] = [];
  /** Who waits for each call that has a name, until it is answered. */
  readonly #named = new Map<string, Waiting[]>();
  #pump: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due: number | undefined;
  #retryMs = RETRY_MS;
  #conflicts = 0;
  #lost: Error | undefined;
  #closed = false;

  private constructor(parts: Parts) {
    this.#parts = parts;
    parts.storage.onlost = (error) => {
      this.#lost = error;
      this.#stopTimer();
      this.#drop();
      parts.lost(error);
    };
  }

  /** Reads what is durable and goes on from there. Owns the storage from now on, also when it rejects. */
  static async open(parts: Parts): Promise<Keeper> {
    const keeper = new Keeper(parts);
    try {
      await keeper.#ready();
      keeper.#runAt(keeper.#due);
      return keeper;
    } catch (error) {
      parts.storage.close();
      throw error;
    }
  }

  /** Names the stored sandbox. */
  get era(): string {
    return this.#era;
  }

  /** When the next task is due. */
  get due(): number | undefined {
    return this.#due;
  }

  /** The durable answer of a call that was carried out before, if it is still known. */
  kept(call: string): string | undefined {
    return this.#answers.get(call)?.answer;
  }

  /** Queues a call after those that wait. */
  submit(call: Waiting): void {
    if (this.#lost !== undefined) return call.reject(this.#lost);
    const same = call.keep === undefined ? undefined : this.#named.get(call.keep);
    if (same !== undefined) return void same.push(call);
    this.#waiting.push(call.keep === undefined ? call : this.#once(call, call.keep));
    this.#start();
  }

  /**
   * Whoever asks for it again before it is answered hears the same. A tab does that when two tabs in turn said that they lead:
   * what is durable would not tell yet that it was carried out, and of one that failed it never would.
   */
  #once(call: Waiting, keep: string): Waiting {
    const all = [call];
    this.#named.set(keep, all);
    const settle = (tell: (one: Waiting) => void): void => {
      this.#named.delete(keep);
      all.forEach(tell);
    };
    return {
      ...{ request: call.request, keep, since: call.since },
      get signal() {
        return all.length === 1 ? call.signal : undefined;
      },
      resolve: (answer) => settle((one) => one.resolve(answer)),
      reject: (error) => settle((one) => one.reject(error)),
    };
  }

  /** Another tab, that took itself for the one that writes, made group `last` durable. */
  learn(last: number): void {
    if (last <= this.#last) return;
    this.#heard = last;
    // Also what it left to be done.
    this.work().catch(() => undefined);
  }

  /** Does what is due now, after the calls that wait; returns the gateway's result once it is durable. */
  work(): Promise<string> {
    const call = { request: undefined, keep: undefined, since: undefined, signal: undefined };
    return new Promise((resolve, reject) => this.submit({ ...call, resolve, reject }));
  }

  /** Finishes what waits, then lets go of gateway and storage. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimer();
    await this.#pump;
    this.#drop();
    this.#parts.storage.close();
  }

  #start(): void {
    this.#pump ??= this.#run();
  }

  async #run(): Promise<void> {
    // Whoever calls in the same turn comes along.
    await null;
    try {
      while (this.#waiting.length > 0) await this.#group();
    } finally {
      // In the same turn as the last look at who waits: whoever comes later starts it anew.
      this.#pump = undefined;
      if (!this.#closed) this.#runAt(this.#due);
    }
  }

  async #group(): Promise<void> {
    let gateway: Gateway;
    try {
      gateway = await this.#ready();
    } catch (error) {
      return this.#refuse(error);
    }
    const group: Waiting[] = [];
    const answers: string[] = [];
    try {
      this.#carryOut(gateway, group, answers);
    } catch (error) {
      this.#drop();
      const broken = group[answers.length];
      for (const call of group) call.reject(call === broken ? thrown(error) : lostWithOthers());
      return;
    }
    const number = this.#last + 1;
    let written = true;
    try {
      written = await this.#persist(gateway, group, answers);
    } catch (error) {
      this.#drop();
      const failure = await this.#failure(number, asError(error));
      if (failure !== undefined) return this.#notKept(group, failure);
    }
    this.#retryMs = RETRY_MS;
    this.#conflicts = 0;
    // First: whoever is told of a payment and asks another tab for it finds it there.
    if (written) this.#parts.changed(this.#due, this.#last);
    group.forEach((call, i) => call.resolve(answers[i] ?? ""));
  }

  /** Runs calls until the page should have its turn; then what is due. */
  #carryOut(gateway: Gateway, group: Waiting[], answers: string[]): void {
    const until = performance.now() + SLICE_MS;
    for (let call = this.#waiting.shift(); call !== undefined; call = performance.now() < until ? this.#waiting.shift() : undefined) {
      if (call.signal?.aborted === true) {
        call.reject(call.signal.reason as Error);
        continue;
      }
      if (this.#mayBeForgotten(call)) {
        call.reject(outcomeUnknown("A tab was asked long ago and did not answer"));
        continue;
      }
      group.push(call);
      answers.push(this.#answerTo(call, gateway));
    }
    if (this.#parts.automatic) this.#work(gateway);
  }

  /** Looked at when its turn comes: this tab may have slept with the call in its hands while another carried it out. */
  #mayBeForgotten({ keep, since }: Waiting): boolean {
    if (keep === undefined || since === undefined || this.#answers.has(keep)) return false;
    return Date.now() - since > SURELY_KEPT_MS;
  }

  /** What is durable of the call already, else what the gateway says to it. */
  #answerTo({ request, keep }: Waiting, gateway: Gateway): string {
    const kept = keep === undefined ? undefined : this.kept(keep);
    if (kept !== undefined) return kept;
    return request === undefined ? this.#work(gateway) : gateway.call(this.#parts.now(), request);
  }

  #work(gateway: Gateway): string {
    const worked = gateway.work(this.#parts.now());
    this.#due = nextDue(worked);
    return worked;
  }

  async #persist(gateway: Gateway, group: readonly Waiting[], answers: readonly string[]): Promise<boolean> {
    const changes = gateway.take_journal();
    const at = Date.now();
    const kept: KeptAnswer[] = [];
    group.forEach((call, i) => {
      if (call.keep !== undefined && !this.#answers.has(call.keep)) kept.push({ call: call.keep, at, answer: answers[i] ?? "" });
    });
    // Also of one that changed nothing: whoever heard a refusal must not find it carried out by a tab that was asked before and
    // comes to it late, when it would succeed.
    if (changes === undefined && kept.length === 0) return false;
    const entries = changes ?? new Uint8Array();
    const grown = this.#grownBytes + entries.length + lengthOf(kept);
    const snapshot = grown > Math.max(COMPACT_BYTES, this.#snapshotBytes) ? gateway.snapshot() : undefined;
    const number = this.#last + 1;
    const forgetBefore = at - KEEP_MS;
    await this.#parts.storage.append({ number, by: this.#id, entries, answers: kept, snapshot, forgetBefore });
    this.#last = number;
    this.#grownBytes = snapshot === undefined ? grown : 0;
    if (snapshot !== undefined) {
      this.#snapshotBytes = snapshot.length;
      for (const [call, answer] of this.#answers) if (answer.at < forgetBefore) this.#answers.delete(call);
    }
    for (const answer of kept) this.#answers.set(answer.call, answer);
    return true;
  }

  /** The gateway in memory, or one made from what is durable. */
  async #ready(): Promise<Gateway> {
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#gateway !== undefined && this.#last >= this.#heard) return this.#gateway;
    this.#drop();
    const heard = this.#heard;
    const stored = await this.#parts.storage.load();
    // Whatever was heard of before is in it, unless it was of a sandbox that is gone.
    if (this.#heard === heard) this.#heard = 0;
    const gateway = await opened(this.#parts, stored);
    this.#era = stored.era;
    this.#found = stored;
    this.#last = stored.last;
    this.#grownBytes = (stored.journal?.length ?? 0) + lengthOf(stored.answers);
    this.#snapshotBytes = stored.snapshot?.length ?? 0;
    this.#answers.clear();
    for (const answer of stored.answers) this.#answers.set(answer.call, answer);
    // Opening enrols the first time, and recovers what was in flight; that too must be durable before it shows.
    if (this.#parts.automatic) this.#work(gateway);
    try {
      if (await this.#persist(gateway, [], [])) this.#parts.changed(this.#due, this.#last);
    } catch (error) {
      gateway.free();
      throw error;
    }
    if (this.#lost !== undefined) {
      gateway.free();
      throw this.#lost;
    }
    this.#gateway = gateway;
    return gateway;
  }

  /**
   * Of a group of which nothing was kept. When the reason is that another tab was faster, it is carried out anew on what is
   * there now, where those calls that the other one did are known; else its callers hear why.
   */
  #notKept(group: readonly Waiting[], failure: Error): void {
    if (isConflict(failure) && this.#lost === undefined && this.#conflicts < MOST_CONFLICTS) {
      this.#conflicts += 1;
      this.#waiting.unshift(...group);
      return;
    }
    this.#tryLater();
    for (const call of group) call.reject(this.#lost ?? failure);
  }

  /** What to say of a write that failed; undefined if group `number` is durable all the same, as what is stored tells. */
  async #failure(number: number, error: Error): Promise<Error | undefined> {
    if (!(error instanceof StorageError) || error.code !== "storage_failed") return error;
    try {
      await this.#ready();
      if (this.#found.last < number) return error;
      if (this.#found.last === number) return this.#found.by === this.#id ? undefined : error;
      return outcomeUnknown("The browser's storage failed in the middle of a write, and another tab wrote since", error);
    } catch (cause) {
      return outcomeUnknown("The browser's storage failed in the middle of a write", cause);
    }
  }

  #refuse(error: unknown): void {
    const reason = asError(error);
    const calls = this.#waiting.splice(0);
    this.#tryLater();
    for (const call of calls) call.reject(reason);
  }

  #tryLater(): void {
    this.#due = this.#parts.now() + this.#retryMs;
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
  }

  #drop(): void {
    const gateway = this.#gateway;
    this.#gateway = undefined;
    try {
      gateway?.free();
    } catch {
      // A gateway that died in the middle of a call does not let itself be freed; its memory goes with the module.
    }
  }

  #runAt(due: number | undefined): void {
    this.#stopTimer();
    if (due === undefined || !this.#parts.automatic || this.#lost !== undefined) return;
    this.#timer = setTimeout(() => void this.work().catch(() => undefined), Math.min(Math.max(due - this.#parts.now(), 0), LONGEST_MS));
    unref(this.#timer);
  }

  #stopTimer(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function isConflict(error: Error): boolean {
  return error instanceof StorageError && error.code === "storage_conflict";
}

async function opened({ open, seed, now }: Parts, stored: Stored): Promise<Gateway> {
  const fresh = await seed(stored.last);
  try {
    return open(fresh, now(), stored.snapshot, stored.journal);
  } catch (error) {
    throw openingFailure(error);
  }
}

function lengthOf(answers: readonly KeptAnswer[]): number {
  return answers.reduce((length, { answer }) => length + answer.length, 0);
}

function nextDue(worked: string): number | undefined {
  const { due } = JSON.parse(worked) as { due: number | null };
  return due ?? undefined;
}

/** Where a timer keeps a process from ending, as in Node, that is not wanted for play money. */
function unref(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function") timer.unref();
}
