/** Following the feed of events as it grows. */

// For projects whose settings do not bring `Symbol.dispose`; kept in the declarations.
/// <reference lib="esnext.disposable" preserve="true" />

import { Linked } from "../client/patience.js";
import type { FeedEvent, FeedPage } from "../types.js";
import type { Changes } from "./changes.js";

/** What to follow. */
export interface Watching {
  /** Tells when to look again. */
  readonly changes: Changes;
  /** The next page of the feed. */
  readonly read: (after: number, signal: AbortSignal) => Promise<FeedPage>;
  /** Begins after this position. */
  readonly after: number;
  /** Which events are wanted. */
  readonly wanted: (event: FeedEvent) => boolean;
  /** Ends it, with the signal's reason. */
  readonly signal: AbortSignal | undefined;
}

/** The feed from a position on, without an end of its own: `break`, `return()` or the signal end it. */
export class EventWatch implements AsyncIterableIterator<FeedEvent> {
  readonly #events: AsyncGenerator<FeedEvent, void, void>;
  // Not `AbortSignal.any`, which Node has from 20.3 on.
  readonly #linked: Linked;
  #ended = false;

  /** @internal */
  constructor(watching: Watching) {
    this.#linked = new Linked(watching.signal);
    this.#events = follow(watching, this.#linked.signal);
  }

  /** The next event, once there is one. */
  async next(): Promise<IteratorResult<FeedEvent, undefined>> {
    try {
      return (await this.#events.next()) as IteratorResult<FeedEvent, undefined>;
    } catch (error) {
      if (this.#ended) return { done: true, value: undefined };
      // A generator that threw is at its end.
      this.#linked.close();
      throw error;
    }
  }

  /** Ends it, also while a `next` waits. */
  async return(): Promise<IteratorResult<FeedEvent, undefined>> {
    this.#ended = true;
    this.#linked.end();
    this.#linked.close();
    await this.#events.return().catch(() => undefined);
    return { done: true, value: undefined };
  }

  /** Itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Ends it: for `await using`. */
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
