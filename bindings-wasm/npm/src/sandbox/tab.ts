/**
* Many tabs, one gateway. The tab with the Web Lock is the leader: it runs the gateway and writes to the database. The
 * others send it their calls through a BroadcastChannel. When the leader ends, for whatever reason, the browser passes the
 * lock to the next tab, which loads the durable state. Unanswered calls are sent again, and a call whose effect is already
 * durable gets the answer that was stored with it. A leader that hangs or is suspended is replaced, too. If it resumes and
 * writes, the database checks whether another tab has written since. If none has, the write succeeds and the old leader
 * reports it to the new one. Either way it follows from then on.
 */

import { DisposedError, RailgateError, StorageError } from "../errors.js";
import { Changes } from "./changes.js";
import { deferred, type Deferred } from "./deferred.js";
import { asError, errorOf, outcomeUnknown, storageFailure, troubleOf } from "./errors.js";
import { Keeper, type Parts } from "./keeper.js";
import { PROTOCOL, isMessage, type Answered, type Message, type Word } from "./messages.js";
import type { Port, Sending } from "./port.js";
import type { Storage } from "./storage.js";

/** The dependencies of a tab. */
export interface TabParts extends Omit<Parts, "changed" | "lost" | "storage"> {
  /** The sandbox's name, used for lock and channel. */
  readonly name: string;
  /** Opens the shared storage; called once the lock is held. */
  readonly storage: () => Promise<Storage>;
  /** Aborts opening. */
  readonly signal: AbortSignal | undefined;
}

/** A call from this or another tab. */
interface Call {
  readonly call: string;
  readonly request: string;
  readonly mutates: boolean;
  readonly signal: AbortSignal | undefined;
  /** When a leader was first asked, Unix milliseconds. */
  since: number | undefined;
  resolve(answer: string): void;
  reject(error: Error): void;
}

/** How long after a task is due the others wait for the leader's own timer. */
const PATIENCE_MS = 250;
/** The longest that `setTimeout` can wait. */
const LONGEST_MS = 2_147_483_647;

/** After this much silence the leader is asked for a sign of life. */
const DOUBT_MS = 2_000;
/** If none comes within this time, or up to half as much again, the leader is replaced. */
const SILENCE_MS = 3_000;
/** How often a tab that loads the stored state gives a sign of life. */
const SIGN_MS = 1_000;
/** After this time it stops: its opening may never finish. */
const LONGEST_OPENING_MS = 30_000;

/**
* The backoff when the storage fails as a tab takes over: the first wait, each is twice the previous one, and after the
 * longest the tab gives up.
 */
const RETRY_MS = 250;
const LONGEST_RETRY_MS = 4_000;

/** A period of leading. */
interface Reign {
  /** The leader's id for others. It changes with each reign, because a tab does not receive calls between two reigns. */
  readonly name: string;
  over: boolean;
  readonly ended: Deferred;
  /** Unix milliseconds. */
  readonly begun: number;
  /** Gives signs of life while opening. */
  readonly signs: ReturnType<typeof setInterval>;
}

/** The port of one tab. */
export class Tab implements Port {
  readonly changes = new Changes();
  readonly #parts: TabParts;
  readonly #lock: string;
  readonly #channel: BroadcastChannel;
  readonly #id = crypto.randomUUID();
  #calls = 0;
  #reigns = 0;
  readonly #pending = new Map<string, Call>();
  #keeper: Keeper | undefined;
  /** The leader and the era of the stored sandbox, as far as this tab knows. */
  #leader: string | undefined;
  #era: string | undefined;
  #failed: Error | undefined;
  #reminder: ReturnType<typeof setTimeout> | undefined;
  readonly #joined = deferred();
  /** Aborts the current lock request while it is queued. */
  #queued = new AbortController();
  #steals = false;
  #reign: Reign | undefined;
  #watchdog: ReturnType<typeof setTimeout> | undefined;
  /**
   * Grows each time that this tab steals the lock, until there is a leader. Opening may block a tab for longer than the
   * others wait; without this they would steal the lock from each other for ever.
   */
  #patience = 1;
  #over: Promise<void> = Promise.resolve();
  #silent = false;

  private constructor(parts: TabParts) {
    this.#parts = parts;
    this.#lock = `railgate:${parts.name}`;
    this.#channel = new BroadcastChannel(this.#lock);
    this.#channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (isMessage(data)) this.#hear(data);
    };
  }

  /** Resolves when this tab is the leader or knows the leader. */
  static async open(parts: TabParts): Promise<Tab> {
    parts.signal?.throwIfAborted();
    if (typeof navigator === "undefined" || !("locks" in navigator) || typeof BroadcastChannel === "undefined") {
      throw new StorageError(
        "storage_unavailable",
        'Web Locks are available on https and localhost only; without them open the sandbox with storage: "memory"',
      );
    }
    const tab = new Tab(parts);
    tab.#over = tab.#join();
    tab.#watchLeader();
    const giveUp = (): void => tab.#fail(parts.signal?.reason as Error);
    parts.signal?.addEventListener("abort", giveUp);
    await tab.#joined.promise.finally(() => parts.signal?.removeEventListener("abort", giveUp));
    return tab;
  }

  get leads(): boolean {
    return this.#keeper !== undefined;
  }

  request(request: string, { mutates, signal }: Sending): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#failed !== undefined) throw this.#failed;
      this.#calls += 1;
      const call: Call = { call: `${this.#id}.${this.#calls}`, request, mutates, signal, since: undefined, resolve, reject };
      if (this.#keeper !== undefined) return this.#keeper.submit({ request, keep: undefined, since: undefined, signal, resolve, reject });
      this.#pending.set(call.call, call);
      if (this.#pending.size === 1) this.#watchLeader();
      this.#send(call);
    });
  }

  async close(): Promise<void> {
    this.#fail(new DisposedError("sandbox"));
    await this.#over;
  }

  /** Until the end: waits for the lock, leads, and if the lock is stolen, follows and waits again. */
  async #join(): Promise<void> {
    while (this.#failed === undefined) {
      this.#queued = new AbortController();
      const how = this.#steals ? { steal: true } : { signal: this.#queued.signal };
      this.#steals = false;
      const granted = navigator.locks.request(this.#lock, how, () => this.#lead());
      this.#say({ kind: "hello" });
      await granted.catch((error: unknown) => {
        if (error instanceof DOMException && error.name === "AbortError") this.#stepDown();
        else this.#fail(error instanceof DOMException ? storageFailure(error) : asError(error));
      });
    }
    this.#silent = true;
    this.#channel.close();
  }

  /** Leads; the lock is held until this resolves. */
  async #lead(): Promise<void> {
    if (this.#failed !== undefined) return;
    const signs = setInterval(() => this.#present(), SIGN_MS);
    this.#reigns += 1;
    const reign: Reign = { name: `${this.#id}/${this.#reigns}`, over: false, ended: deferred(), begun: Date.now(), signs };
    this.#reign = reign;
    this.#steals = false;
    this.#unwatch();
    this.#present();
    try {
      const keeper = await this.#keep(reign);
      if (!reign.over && this.#isSame(keeper.era)) this.#takeOver(keeper, reign);
      await reign.ended.promise;
      await keeper.close();
    } catch (error) {
      if (!reign.over) this.#fail(asError(error));
    }
  }

  /** Opens the stored sandbox. If it was already open, a single failure of the storage must not close it. */
  async #keep(reign: Reign): Promise<Keeper> {
    const { storage, ...parts } = this.#parts;
    for (let wait = RETRY_MS; ; wait *= 2) {
      try {
        return await Keeper.open({
          ...parts,
          storage: await storage(),
          changed: (due, last) => this.#tell(due, last),
          lost: (error) => this.#fail(error),
        });
      } catch (error) {
        const passes = error instanceof StorageError && error.retryable;
        if (!passes || this.#era === undefined || wait > LONGEST_RETRY_MS) throw error;
        await Promise.race([reign.ended.promise, new Promise((resolve) => setTimeout(resolve, wait))]);
        if (reign.over) throw error;
      }
    }
  }

  /** Stops leading: another tab has the lock, or this tab requests it again. */
  #stepDown(): void {
    this.#endReign();
    this.#leader = undefined;
    this.#watchLeader();
  }

  #endReign(): void {
    this.#keeper = undefined;
    if (this.#reign === undefined) return;
    clearInterval(this.#reign.signs);
    this.#reign.over = true;
    this.#reign.ended.resolve();
    this.#reign = undefined;
  }

  /** Monitors the leader while this tab needs it. */
  #watchLeader(): void {
    this.#unwatch();
    if (this.#failed !== undefined || this.#reign !== undefined) return;
    this.#watchdog = setTimeout(() => this.#doubt(), DOUBT_MS);
  }

  #unwatch(): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = undefined;
  }

  #doubt(): void {
    this.#say({ kind: "hello" });
    const begun = Date.now();
    const silence = SILENCE_MS * this.#patience;
    this.#watchdog = setTimeout(
      () => {
        // If this tab was suspended itself, the silence proves nothing.
        if (Date.now() - begun > 2 * silence) return this.#doubt();
        this.#patience *= 2;
        this.#steals = true;
        this.#queued.abort();
      },
      silence * (1 + Math.random() / 2),
    );
  }

  #heardLeader(): void {
    this.#patience = 1;
    this.#unwatch();
    if (this.#pending.size > 0) this.#watchLeader();
  }

  #takeOver(keeper: Keeper, reign: Reign): void {
    clearInterval(reign.signs);
    this.#patience = 1;
    this.#keeper = keeper;
    this.#leader = reign.name;
    clearTimeout(this.#reminder);
    for (const call of this.#pending.values()) this.#carryOut(keeper, call);
    this.#pending.clear();
    this.#present();
    this.#joined.resolve();
    this.changes.tell();
  }

  /** Executes a call, unless that was already done. */
  #carryOut(keeper: Keeper, call: Call): void {
    const kept = keeper.kept(call.call);
    if (kept !== undefined) return call.resolve(kept);
    keeper.submit({
      request: call.request,
      keep: call.mutates ? call.call : undefined,
      since: call.since,
      signal: call.signal,
      resolve: (answer) => call.resolve(answer),
      reject: (error) => call.reject(error),
    });
  }

  #send(call: Call): void {
    if (this.#leader === undefined) return;
    if (call.signal?.aborted === true) {
      this.#pending.delete(call.call);
      return call.reject(call.signal.reason as Error);
    }
    const { request, mutates } = call;
    call.since ??= Date.now();
    this.#say({ kind: "asked", leader: this.#leader, call: call.call, request, mutates, since: call.since });
  }

  #hear(message: Message): void {
    if (message.protocol !== PROTOCOL) return this.#meetStranger(message);
    switch (message.kind) {
      case "hello":
        return this.#present();
      case "opening":
        if (this.#watchdog !== undefined) this.#watchLeader();
        return;
      case "leader":
        if (this.#keeper === undefined && this.#failed === undefined && this.#isSame(message.era)) {
          this.#follow(message.leader, message.due);
        }
        return;
      case "news":
        this.#expect(message.due);
        this.#keeper?.learn(message.last);
        return this.changes.tell();
      case "nudge":
        this.#keeper?.work().then(
          () => this.#present(),
          () => undefined,
        );
        return;
      case "asked":
        if (message.leader === this.#reign?.name && this.#keeper !== undefined) this.#carryOut(this.#keeper, this.#ofOther(message));
        return;
      case "answered":
        return this.#receive(message);
    }
  }

  /** Accepts an answer from the current leader; answers from a replaced leader are ignored. */
  #receive({ leader, call: name, answer }: Answered): void {
    if (leader !== this.#leader) return;
    const call = this.#pending.get(name);
    this.#pending.delete(name);
    this.#heardLeader();
    if (typeof answer === "string") call?.resolve(answer);
    else call?.reject(errorOf(answer));
  }

  #ofOther({ leader, call, request, mutates, since }: Word & { readonly kind: "asked" }): Call {
    return {
      ...{ call, request, mutates, since },
      signal: undefined,
      resolve: (answer) => this.#say({ kind: "answered", leader, call, answer }),
      reject: (error) => this.#say({ kind: "answered", leader, call, answer: troubleOf(error) }),
    };
  }

  #follow(leader: string, due: number | undefined): void {
    this.#expect(due);
    this.#heardLeader();
    if (leader === this.#leader) return;
    this.#leader = leader;
    for (const call of [...this.#pending.values()]) this.#send(call);
    this.#joined.resolve();
    this.changes.tell();
  }

  /** Fails if the sandbox was erased and recreated, which must not be mistaken for the one that this tab opened. */
  #isSame(era: string): boolean {
    if (this.#era !== undefined && this.#era !== era) {
      this.#fail(new StorageError("storage_erased", "The sandbox was erased; open it again to get the new one"));
      return false;
    }
    this.#era = era;
    return true;
  }

  #meetStranger(message: Message): void {
    if (message.kind === "hello") this.#present();
    if (message.kind === "leader" && this.#keeper === undefined) {
      const advice = "Another tab has the sandbox open in another version of railgate; reload or close that tab";
      this.#fail(new StorageError("storage_version", advice));
    }
  }

  /** Announces that this tab leads or is about to. */
  #present(): void {
    const [keeper, reign] = [this.#keeper, this.#reign];
    if (reign === undefined) return;
    if (keeper !== undefined) this.#say({ kind: "leader", leader: reign.name, era: keeper.era, due: keeper.due });
    else if (Date.now() - reign.begun <= LONGEST_OPENING_MS) this.#say({ kind: "opening" });
  }

  /** Schedules a reminder to the leader, in case a due task is not reported as done. */
  #expect(due: number | undefined): void {
    clearTimeout(this.#reminder);
    if (due === undefined || this.#keeper !== undefined) return;
    const wait = Math.max(due - this.#parts.now(), 0) + PATIENCE_MS;
    if (wait <= LONGEST_MS) this.#reminder = setTimeout(() => this.#remind(), wait);
  }

  #remind(): void {
    this.#say({ kind: "nudge" });
    this.#watchLeader();
  }

  /** Announces a durable group, also one of a replaced keeper, because the new leader has not read it yet. */
  #tell(due: number | undefined, last: number): void {
    this.#say({ kind: "news", due, last });
    this.changes.tell();
  }

  #say(word: Word): void {
    if (this.#silent) return;
    this.#channel.postMessage({ ...word, protocol: PROTOCOL } satisfies Message);
  }

  /** Ends everything, because the user closed the sandbox or the storage is unusable. */
  #fail(error: Error): void {
    if (this.#failed !== undefined) return;
    this.#failed = error;
    clearTimeout(this.#reminder);
    this.#unwatch();
    this.#endReign();
    for (const call of this.#pending.values()) call.reject(inDoubt(call, error));
    this.#pending.clear();
    this.changes.end(error);
    this.#joined.reject(error);
    this.#queued.abort();
  }
}

/** Errors after which it no longer matters whether a call was executed. */
const MOOT: ReadonlySet<string> = new Set(["disposed", "storage_erased", "storage_lost"]);

/** The error for a call sent to another tab, which may have executed it before it ended. */
function inDoubt(call: Call, error: Error): Error {
  const moot = error instanceof RailgateError && MOOT.has(error.code);
  if (!call.mutates || call.since === undefined || moot) return error;
  return outcomeUnknown("Another tab was asked, and the sandbox failed before the answer arrived", error);
}
