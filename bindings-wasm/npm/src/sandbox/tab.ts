/**
 * Many tabs, one gateway. The tab that holds the Web Lock leads: it has the gateway and writes to the database. The
 * others send it their calls through a BroadcastChannel. When it goes, however it goes, the browser hands the lock to
 * the next tab, which reads what is durable; the calls that were not answered are asked again, and a call whose effect
 * was durable already gets the answer that was kept with it. A leader that hangs or was put to sleep is replaced, too:
 * should it come back and write, the database finds whether it is behind. Where it is not, for nobody wrote since, it tells
 * the one that replaced it; in either case it follows from then on.
 */

import { DisposedError, RailgateError, StorageError } from "../errors.js";
import { Changes } from "./changes.js";
import { deferred, type Deferred } from "./deferred.js";
import { asError, errorOf, outcomeUnknown, storageFailure, troubleOf } from "./errors.js";
import { Keeper, type Parts } from "./keeper.js";
import { PROTOCOL, isMessage, type Answered, type Message, type Word } from "./messages.js";
import type { Port, Sending } from "./port.js";
import type { Storage } from "./storage.js";

/** What a tab is made of. */
export interface TabParts extends Omit<Parts, "changed" | "lost" | "storage"> {
  /** Names lock and channel. */
  readonly name: string;
  /** Opens the shared storage; called once the lock is held. */
  readonly storage: () => Promise<Storage>;
  /** Gives up joining. */
  readonly signal: AbortSignal | undefined;
}

/** A call on its way, wherever it came from. */
interface Call {
  readonly call: string;
  readonly request: string;
  readonly mutates: boolean;
  readonly signal: AbortSignal | undefined;
  /** When a leader was asked for it first, Unix milliseconds. */
  since: number | undefined;
  resolve(answer: string): void;
  reject(error: Error): void;
}

/** A due task is left to the leader's own timer for this long. */
const PATIENCE_MS = 250;
/** The longest that `setTimeout` can wait. */
const LONGEST_MS = 2_147_483_647;

/** When nothing was heard of the leader for so long, it is asked whether it is there. */
const DOUBT_MS = 2_000;
/** And when it has not said so after this, or half as much again, it is replaced. */
const SILENCE_MS = 3_000;
/** A tab that reads what is stored says so often that it is there. */
const SIGN_MS = 1_000;
/** One that takes longer says no more: it may wait for what never comes. */
const LONGEST_OPENING_MS = 30_000;

/**
 * When the storage fails as a tab takes over: the first wait before another try, each is twice the one before, and after the
 * longest it is the end.
 */
const RETRY_MS = 250;
const LONGEST_RETRY_MS = 4_000;

/** One time of leading. */
interface Reign {
  /** What others call the leader. Another name each time: what a tab was asked between two times of leading it did not hear. */
  readonly name: string;
  over: boolean;
  readonly ended: Deferred;
  /** Unix milliseconds. */
  readonly begun: number;
  /** Says that it is opening. */
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
  /** Who leads, as far as this tab knows, and what is stored there. */
  #leader: string | undefined;
  #era: string | undefined;
  #failed: Error | undefined;
  #reminder: ReturnType<typeof setTimeout> | undefined;
  readonly #joined = deferred();
  /** The request for the lock that waits or is granted, and what is done under it. */
  #queued = new AbortController();
  #steals = false;
  #reign: Reign | undefined;
  #watchdog: ReturnType<typeof setTimeout> | undefined;
  /**
   * Grows each time that this tab takes the lock away, until there is a leader. Opening may keep a tab from saying anything for
   * longer than the others wait; they would take the lock from each other for ever.
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

  /** Resolves once this tab leads or knows who does. */
  static async open(parts: TabParts): Promise<Tab> {
    parts.signal?.throwIfAborted();
    if (typeof navigator === "undefined" || !("locks" in navigator) || typeof BroadcastChannel === "undefined") {
      throw new StorageError(
        "storage_unavailable",
        'The browser offers Web Locks over https and on localhost only; without them open the sandbox with storage: "memory"',
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

  /** Waits for the lock, leads, and if the lock is taken away follows and waits again; until the end. */
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

  /** Holds the lock for as long as it runs. */
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

  /** Opens what is stored. Whoever has the sandbox open already does not lose it because the storage failed once. */
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

  /** The lock went to another tab, or is waited for anew. */
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

  /** While something is wanted of the leader: sees to it that there is one. */
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
        // Whoever slept cannot tell who else did.
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

  /** Carries a call out, unless that was done before. */
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

  /** Takes the answer of the leader that is followed now; one that was replaced has nothing to say any more. */
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

  /** A sandbox that was erased under this tab is not silently taken for the one that it knew. */
  #isSame(era: string): boolean {
    if (this.#era !== undefined && this.#era !== era) {
      this.#fail(new StorageError("storage_erased", "The sandbox was erased; open it again for the new one"));
      return false;
    }
    this.#era = era;
    return true;
  }

  #meetStranger(message: Message): void {
    if (message.kind === "hello") this.#present();
    if (message.kind === "leader" && this.#keeper === undefined) {
      const advice = "Another tab has the sandbox open with another version of railgate; reload or close that tab";
      this.#fail(new StorageError("storage_version", advice));
    }
  }

  /** Says that this tab leads, or is about to. */
  #present(): void {
    const [keeper, reign] = [this.#keeper, this.#reign];
    if (reign === undefined) return;
    if (keeper !== undefined) this.#say({ kind: "leader", leader: reign.name, era: keeper.era, due: keeper.due });
    else if (Date.now() - reign.begun <= LONGEST_OPENING_MS) this.#say({ kind: "opening" });
  }

  /** Reminds the leader of a task that was due and of which nothing is heard. */
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

  /** Also of what a keeper wrote that was replaced meanwhile: whoever leads now does not know it yet. */
  #tell(due: number | undefined, last: number): void {
    this.#say({ kind: "news", due, last });
    this.changes.tell();
  }

  #say(word: Word): void {
    if (this.#silent) return;
    this.#channel.postMessage({ ...word, protocol: PROTOCOL } satisfies Message);
  }

  /** The end: because the user wills it, or because the storage is gone. */
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

/** Errors after which it is of no account whether a call was carried out. */
const MOOT: ReadonlySet<string> = new Set(["disposed", "storage_erased", "storage_lost"]);

/** What a call is told that was asked of another tab, which may have carried it out before it went. */
function inDoubt(call: Call, error: Error): Error {
  const moot = error instanceof RailgateError && MOOT.has(error.code);
  if (!call.mutates || call.since === undefined || moot) return error;
  return outcomeUnknown("Another tab was asked, and the sandbox failed before its answer was known", error);
}
