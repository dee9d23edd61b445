/** Follows the feed of events as it grows. */

// For projects whose settings lack `Symbol.dispose`; preserved in the declarations.
/// <reference lib="esnext.disposable" preserve="true" />

import { Linked } from "../client/patience.js";
import type { FeedEvent, FeedPage } from "../types.js";
import type { Changes } from "./changes.js";

/** Parameters of an {@link EventWatch}. */
export interface Watching {
  /** Signals when to read again. */
  readonly changes: Changes;
  /** Reads the next page of the feed. */
  readonly read: (after: number, signal: AbortSignal) => Promise<FeedPage>;
  /** The position to start after. */
  readonly after: number;
  /** Selects events. */
  readonly wanted: (event: FeedEvent) => boolean;
  /** Ends the watch with the signal's reason. */
  readonly signal: AbortSignal | undefined;
}

/** Iterates over the feed from a position on. It does not end by itself: `break`, `return()` or the signal end it. */
export class EventWatch implements AsyncIterableIterator<FeedEvent> {
  readonly #events: AsyncGenerator<FeedEvent, void, void>;
  // Not `AbortSignal.any`, which Node lacks before 20.3.
  readonly #linked: Linked;
  #ended = false;

  /** @internal */
  constructor(watching: Watching) {
    this.#linked = new Linked(watching.signal);
    this.#events = follow(watching, this.#linked.signal);
  }

  /** Resolves with the next event as soon as there is one. */
  async next(): Promise<IteratorResult<FeedEvent, undefined>> {
    try {
      return (await this.#events.next()) as IteratorResult<FeedEvent, undefined>;
    } catch (error) {
      if (this.#ended) return { done: true, value: undefined };
      // A generator that threw has ended.
      this.#linked.close();
      throw error;
    }
  }

  /** Ends the watch, also while a `next` waits. */
  async return(): Promise<IteratorResult<FeedEvent, undefined>> {
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

async function* follow({ changes, read, after, wanted }: Watching, signal: AbortSignal): AsyncGenerator<FeedEvent, void, void> {
  for (let position = after; ;) {
    const count = changes.count;
    const page = await read(position, signal);
    for (const event of page.data) if (wanted(event)) yield event;
    position = page.next_after;
    if (!page.has_more) await changes.after(count, signal);
  }
}
