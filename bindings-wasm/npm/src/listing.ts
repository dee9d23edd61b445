/**
 * Lists in pages.
 *
 * @module
 */

import type { FeedPage, Page } from "./types.js";

/**
 * A list that is read page by page, when it is used: `await` returns its first page, `for await` goes through everything.
 *
 * ```js
 * const { data, next_cursor } = await client.list({ limit: 20 });
 * for await (const settlement of client.list({ status: "unknown" })) console.log(settlement.reference);
 * ```
 */
export class Listing<P extends Pick<Page<unknown>, "data">> implements PromiseLike<P>, AsyncIterable<P["data"][number]> {
  readonly #read: (more: object) => Promise<P>;
  readonly #next: (page: P) => object | undefined;

  /** @internal */
  constructor(read: (more: object) => Promise<P>, next: (page: P) => object | undefined) {
    this.#read = read;
    this.#next = next;
  }

  /** Returns the first page. Each use of the list reads it again. */
  async page(): Promise<P> {
    return this.#read({});
  }

  /** Iterates over the pages. */
  async *pages(): AsyncGenerator<P, void, void> {
    for (let more: object | undefined = {}; more !== undefined; ) {
      const page: P = await this.#read(more);
      yield page;
      more = this.#next(page);
    }
  }

  /** Iterates over all items. */
  async *[Symbol.asyncIterator](): AsyncGenerator<P["data"][number], void, void> {
    for await (const { data } of this.pages()) yield* data as readonly Awaited<P["data"][number]>[];
  }

  /** Calls {@link Listing.page}, for `await`. */
  then<A = P, B = never>(
    done?: ((page: P) => A | PromiseLike<A>) | null,
    failed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.page().then(done, failed);
  }

  /** Calls {@link Listing.page} and handles its error. */
  catch<B>(failed: (error: unknown) => B | PromiseLike<B>): Promise<P | B> {
    return this.page().catch(failed);
  }
}

/** What selects the page after one of a list with cursors. */
export function byCursor({ next_cursor: cursor }: Pick<Page<unknown>, "next_cursor">): object | undefined {
  return cursor === null ? undefined : { cursor };
}

/** The same for a trace, which is paged by sequence. */
export function bySequence({ next_cursor: after }: Pick<Page<unknown>, "next_cursor">): object | undefined {
  return after === null ? undefined : { after: Number(after) };
}

/** The same for the feed, whose end may grow. */
export function byPosition(page: Pick<FeedPage, "has_more" | "next_after">): object | undefined {
  return page.has_more ? { after: page.next_after } : undefined;
}
