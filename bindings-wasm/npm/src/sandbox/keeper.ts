/**
* Keeps one gateway and its storage consistent: concurrent calls are executed as a group and become durable in
 * one write, and none is answered before that. If a write fails, the gateway in memory is dropped and reloaded
 * from storage, so that memory never contains more than the disk.
 */

import { StorageError } from "../errors.js";
import { thrown } from "../problem.js";
import { asError, lostWithOthers, openingFailure, outcomeUnknown } from "./errors.js";
import type { KeptAnswer, Storage, Stored } from "./storage.js";

/** The engine as exported by the WebAssembly module. Times are Unix milliseconds. */
export interface Gateway {
  /** Executes one request (JSON text) and returns its answer (JSON text). */
  call(now: number, request: string): string;
  /** Does all due tasks; returns `{"due": ms | null, "done": n}`. */
  work(now: number): string;
  /** The changes since the last call, as whole journal entries; undefined if there are none. */
  take_journal(): Uint8Array | undefined;
  /** The complete state; the journal restarts after it. */
  snapshot(): Uint8Array;
  /** Frees its memory. */
  free(): void;
}

/** Opens a gateway from the durable state. */
export type OpenGateway = (seed: Uint8Array, now: number, snapshot?: Uint8Array, journal?: Uint8Array) => Gateway;

/** A queued call. */
export interface Waiting {
  /** The request, JSON text; undefined means to do all due tasks. */
  readonly request: string | undefined;
  /** The id under which the answer is stored, in case the caller repeats the call: calls with the same id are executed once. */
  readonly keep: string | undefined;
  /** When any leader was first asked, Unix milliseconds: the answer to an old call may already have been deleted. */
  readonly since: number | undefined;
  /** Aborted if the caller no longer wants the call; it is skipped if it has not begun. */
  readonly signal: AbortSignal | undefined;
  resolve(answer: string): void;
  reject(error: Error): void;
}

/** The dependencies of a keeper. */
export interface Parts {
  readonly open: OpenGateway;
  readonly storage: Storage;
  /** The host's clock, Unix milliseconds. */
  readonly now: () => number;
  /** The seed of a gateway that continues after this group of the journal. */
  readonly seed: (last: number) => Uint8Array | Promise<Uint8Array>;
  /** Whether to do tasks when they are due; otherwise only {@link Keeper.work} does them. */
  readonly automatic: boolean;
  /** Called when the group `last` became durable; `due` is the time of the next task. */
  readonly changed: (due: number | undefined, last: number) => void;
  /** Called when the storage became unusable; every later call is rejected with the error. */
  readonly lost: (error: Error) => void;
}

/** How long calls may run before the page gets its turn. */
const SLICE_MS = 12;
/** How long answers are stored. */
const KEEP_MS = 600_000;
/** A minute less: an older call may have lost its answer just now, so its outcome counts as unknown. */
const SURELY_KEPT_MS = KEEP_MS - 60_000;
/** Journal and stored answers may grow by this, or by the snapshot's size if larger, before a new snapshot replaces the journal. */
const COMPACT_BYTES = 512 * 1024;
/** The backoff after due tasks failed: the first wait and the longest; each is twice the previous one. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** How often in a row a group is retried after a conflict with another tab. */
const MOST_CONFLICTS = 5;
/** The longest that `setTimeout` can wait. */
const LONGEST_MS = 2_147_483_647;

/** A gateway with its storage. */
export class Keeper {
  readonly #parts: Parts;
  /** Not `crypto.randomUUID`, which pages without a secure context lack. */
  readonly #id = crypto.getRandomValues(new Uint32Array(4)).join("-");
  #gateway: Gateway | undefined;
  #era = "";
  #last = 0;
  /** The newest group at the last read of the storage, and its writer. */
  #found: Pick<Stored, "last" | "by"> = { last: 0, by: undefined };
  /** The newest group that another tab reported. */
  #heard = 0;
  /** The growth of journal and stored answers since the snapshot. */
  #grownBytes = 0;
  #snapshotBytes = 0;
  readonly #answers = new Map<string, KeptAnswer>();
  #waiting: Waiting[] = [];
  /** The waiters for each call with an id, until it is answered. */
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

  /** Loads the durable state and continues from it. Owns the storage from now on, even if it rejects. */
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

  /** Identifies the stored sandbox. */
  get era(): string {
    return this.#era;
  }

  /** When the next task is due. */
  get due(): number | undefined {
    return this.#due;
  }

  /** The stored answer of a call that was executed before, if it was not yet deleted. */
  kept(call: string): string | undefined {
    return this.#answers.get(call)?.answer;
  }

  /** Appends a call to the queue. */
  submit(call: Waiting): void {
    if (this.#lost !== undefined) return call.reject(this.#lost);
    const same = call.keep === undefined ? undefined : this.#named.get(call.keep);
    if (same !== undefined) return void same.push(call);
    this.#waiting.push(call.keep === undefined ? call : this.#once(call, call.keep));
    this.#start();
  }

  /**
   * Gives a repetition of a call that is not yet answered the same answer. A tab repeats a call when two tabs have claimed in turn
   * to lead. The durable state does not show yet that the call was executed, and for a failed call it never will.
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

  /** Another tab that still believed to be the leader made group `last` durable. */
  learn(last: number): void {
    if (last <= this.#last) return;
    this.#heard = last;
    // Reloads, and does the tasks that the other tab left.
    this.work().catch(() => undefined);
  }

  /** Does all due tasks after the queued calls; resolves with the gateway's result when it is durable. */
  work(): Promise<string> {
    const call = { request: undefined, keep: undefined, since: undefined, signal: undefined };
    return new Promise((resolve, reject) => this.submit({ ...call, resolve, reject }));
  }

  /** Finishes the queue, then releases gateway and storage. */
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
    // Calls from the same turn join the group.
    await null;
    try {
      while (this.#waiting.length > 0) await this.#group();
    } finally {
      // In the same turn as the last check of the queue: a later call starts a new run.
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
    // First, so that a caller that learns of a payment and asks another tab finds it there.
    if (written) this.#parts.changed(this.#due, this.#last);
    group.forEach((call, i) => call.resolve(answers[i] ?? ""));
  }

  /** Executes calls until the page should get its turn, then all due tasks. */
  #carryOut(gateway: Gateway, group: Waiting[], answers: string[]): void {
    const until = performance.now() + SLICE_MS;
    for (let call = this.#waiting.shift(); call !== undefined; call = performance.now() < until ? this.#waiting.shift() : undefined) {
      if (call.signal?.aborted === true) {
        call.reject(call.signal.reason as Error);
        continue;
      }
      if (this.#mayBeForgotten(call)) {
        call.reject(outcomeUnknown("Another tab was asked long ago and did not answer"));
        continue;
      }
      group.push(call);
      answers.push(this.#answerTo(call, gateway));
    }
    if (this.#parts.automatic) this.#work(gateway);
  }

  /** Checked just before execution: this tab may have been suspended with the call while another tab executed it. */
  #mayBeForgotten({ keep, since }: Waiting): boolean {
    if (keep === undefined || since === undefined || this.#answers.has(keep)) return false;
    return Date.now() - since > SURELY_KEPT_MS;
  }

  /** The stored answer of the call if there is one, otherwise the gateway's. */
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
    // Answers are stored even if nothing changed: after a caller got a refusal, a tab that was asked earlier must not execute the
    // call later, when it would succeed.
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

  /** The gateway in memory, or one loaded from the durable state. */
  async #ready(): Promise<Gateway> {
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#gateway !== undefined && this.#last >= this.#heard) return this.#gateway;
    this.#drop();
    const heard = this.#heard;
    const stored = await this.#parts.storage.load();
    // Every group reported before this read is included, unless it belonged to an erased sandbox.
    if (this.#heard === heard) this.#heard = 0;
    const gateway = await opened(this.#parts, stored);
    this.#era = stored.era;
    this.#found = stored;
    this.#last = stored.last;
    this.#grownBytes = (stored.journal?.length ?? 0) + lengthOf(stored.answers);
    this.#snapshotBytes = stored.snapshot?.length ?? 0;
    this.#answers.clear();
    for (const answer of stored.answers) this.#answers.set(answer.call, answer);
    // Opening enrols a new client or recovers payments in flight; that, too, must be durable before it is visible.
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
   * Handles a group that was not saved. After a conflict with another tab it is executed again on the new state, which includes
   * the answers to calls that the other tab executed; otherwise its callers get the error.
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

  /** The error for a failed write; undefined if the storage shows that group `number` is durable nevertheless. */
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
      // A gateway that crashed during a call cannot be freed; its memory is released with the module.
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

/** Keeps a timer from holding a process open, as in Node: not wanted for play money. */
function unref(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function") timer.unref();
}
