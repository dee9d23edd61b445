/** Follows a trace or the feed of events as it grows. */

// For projects whose settings lack `Symbol.dispose`; preserved in the declarations.
/// <reference lib="esnext.disposable" preserve="true" />

import { Linked } from "../client/patience.js";
import type { Changes } from "./changes.js";

/** A page of events. */
export interface EventPage<T> {
  /** The events. */
  readonly data: readonly T[];
  /** Whether there are more. */
  readonly has_more: boolean;
}

/** Parameters of an {@link EventWatch}. */
export interface Watching<T> {
  /** Signals when to read again. */
  readonly changes: Changes;
  /** Reads the next page. */
  readonly read: (after: number, signal: AbortSignal) => Promise<EventPage<T>>;
  /** The place to start after. */
  readonly after: number;
  /** The place of an event. */
  readonly place: (event: T) => number;
  /** Ends the watch with the signal's reason. */
  readonly signal: AbortSignal | undefined;
}

/** Iterates over events from a place on. It does not end by itself: `break`, `return()` or the signal end it. */
export class EventWatch<T> implements AsyncIterableIterator<T> {
  readonly #events: AsyncGenerator<T, void, void>;
  // Not `AbortSignal.any`, which Node lacks before 20.3.
  readonly #linked: Linked;
  #ended = false;

  /** @internal */
  constructor(watching: Watching<T>) {
    this.#linked = new Linked(watching.signal);
    this.#events = follow(watching, this.#linked.signal);
  }

  /** Resolves with the next event as soon as there is one. */
  async next(): Promise<IteratorResult<T, undefined>> {
    try {
      return (await this.#events.next()) as IteratorResult<T, undefined>;
    } catch (error) {
      if (this.#ended) return { done: true, value: undefined };
      // A generator that threw has ended.
      this.#linked.close();
      throw error;
    }
  }

  /** Ends the watch, also while a `next` waits. */
  async return(): Promise<IteratorResult<T, undefined>> {
    this.#ended = true;
    this.#linked.end();
    this.#linked.close();
    await this.#events.return().catch(() => undefined);
    return { done: true, value: undefined };
  }

  /** Returns this iterator. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Ends the watch, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}

async function* follow<T>({ changes, read, after, place }: Watching<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
  for (let at = after; ; ) {
    const count = changes.count;
    const page = await read(at, signal);
    for (const event of page.data) {
      at = place(event);
      yield event;
    }
    if (!page.has_more) await changes.after(count, signal);
  }
}
