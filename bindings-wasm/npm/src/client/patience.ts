/**
 * Waiting, ended by a signal at any time.
 *
 * @module
 */

/** How long and how often a call is tried. */
export interface Patience {
  /** The most tries of one call, including the first; 5 by default. */
  readonly attempts: number;
  /** How long one try may take, in milliseconds; 30,000 by default. */
  readonly timeoutMs: number;
  /** The first backoff, which doubles each time, in milliseconds; 250 by default. */
  readonly pauseMs: number;
  /** The longest backoff, even if the server asks for more, in milliseconds; 20,000 by default. */
  readonly longestPauseMs: number;
}

/** The defaults. */
export const PATIENCE: Patience = { attempts: 5, timeoutMs: 30_000, pauseMs: 250, longestPauseMs: 20_000 };

/** Waits; rejects with the signal's reason as soon as that is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const ended = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", ended);
      resolve();
    }, ms);
    signal.addEventListener("abort", ended, { once: true });
  });
}

/** What `work` comes to, unless `signal` is aborted before. The work itself goes on, for others who wait for it. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", ended, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", ended));
  });
}

/** A signal that is aborted with the first of several. */
export class Linked {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #ended = (): void => {
    const first = this.#sources.find((source) => source.aborted);
    this.#controller.abort(first?.reason);
  };

  constructor(...sources: readonly (AbortSignal | undefined)[]) {
    this.#sources = sources.filter((source) => source !== undefined);
    for (const source of this.#sources) source.addEventListener("abort", this.#ended, { once: true });
    if (this.#sources.some((source) => source.aborted)) this.#ended();
  }

  /** Aborted with the first of them. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts it, whatever they do. */
  end(reason?: Error): void {
    this.#controller.abort(reason);
  }

  /** Listens no more. */
  close(): void {
    for (const source of this.#sources) source.removeEventListener("abort", this.#ended);
  }
}

/** A try that may take so long. Its signal is aborted then, or with the outer one. */
export class Deadline {
  readonly #late = new AbortController();
  readonly #linked: Linked;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #kept = false;

  constructor(ms: number, outer: AbortSignal) {
    this.#linked = new Linked(outer, this.#late.signal);
    this.extend(ms);
  }

  /** Of this try. */
  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  /** From now on, so long. */
  extend(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#late.abort(new DOMException("no answer in time", "TimeoutError")), ms);
  }

  /** The try is over, and what came of it goes on under this deadline: its taker ends it. */
  keep(): void {
    this.#kept = true;
  }

  /** The try is over. */
  release(): void {
    if (!this.#kept) this.done();
  }

  /** All of it is over. */
  done(): void {
    clearTimeout(this.#timer);
    this.#linked.close();
  }
}
