/**
* Timeouts and backoff that a signal can end at any time.
 *
 * @module
 */

/** Limits on attempts, timeouts and backoff. */
export interface Patience {
  /** The maximum number of attempts of one call, including the first; 5 by default. */
  readonly attempts: number;
  /** The timeout of one attempt, in milliseconds; 30,000 by default. */
  readonly timeoutMs: number;
  /** The first backoff, which doubles with each attempt, in milliseconds; 250 by default. */
  readonly pauseMs: number;
  /** The longest backoff, even if the server asks for more, in milliseconds; 20,000 by default. */
  readonly longestPauseMs: number;
}

/** The defaults. */
export const PATIENCE: Patience = { attempts: 5, timeoutMs: 30_000, pauseMs: 250, longestPauseMs: 20_000 };

/** Waits; rejects with the signal's reason as soon as the signal is aborted. */
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

/** The result of `work`, unless `signal` is aborted first. The work itself continues for other callers that wait for it. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", ended, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", ended));
  });
}

/** A signal that is aborted with the first of several others. */
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

  /** The combined signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts the combined signal. */
  end(reason?: Error): void {
    this.#controller.abort(reason);
  }

  /** Stops listening to the others. */
  close(): void {
    for (const source of this.#sources) source.removeEventListener("abort", this.#ended);
  }
}

/** The deadline of one attempt. Its signal is aborted at the deadline or with the outer signal. */
export class Deadline {
  readonly #late = new AbortController();
  readonly #linked: Linked;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #kept = false;

  constructor(ms: number, outer: AbortSignal) {
    this.#linked = new Linked(outer, this.#late.signal);
    this.extend(ms);
  }

  /** The signal of this attempt. */
  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  /** Moves the deadline to `ms` milliseconds from now. */
  extend(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#late.abort(new DOMException("no response in time", "TimeoutError")), ms);
  }

  /** Stops the timer until the next {@link Deadline.extend}. */
  hold(): void {
    clearTimeout(this.#timer);
  }

  /** The attempt has ended, but its result, a stream, keeps using this deadline and ends it later. */
  keep(): void {
    this.#kept = true;
  }

  /** The attempt has ended. */
  release(): void {
    if (!this.#kept) this.done();
  }

  /** Ends the deadline: stops the timer and the listeners. */
  done(): void {
    clearTimeout(this.#timer);
    this.#linked.close();
  }
}
