/**
 * Streams of events (Server-Sent Events) over `fetch`, which can sign what `EventSource` cannot.
 *
 * @module
 */

import { type EventSourceMessage, createParser } from "eventsource-parser";
import { RailgateError } from "../errors.js";
import type { Deadline } from "./patience.js";

/** The server sends a comment every 15 seconds; a stream that is silent for longer than this is broken. */
const SILENCE_MS = 45_000;
/** More than any event has. */
const LARGEST_EVENT = 1 << 20;

/** A stream that is open. */
export class EventStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #deadline: Deadline;
  /** What the server asks to wait before coming back, in milliseconds. */
  retryMs: number | undefined;

  /** Over an answer whose deadline is from now on the time between two pieces of it. */
  constructor(response: Response, deadline: Deadline) {
    if (response.body === null) throw new RailgateError("unreadable_answer", "the answer is no stream");
    this.#reader = response.body.getReader();
    this.#deadline = deadline;
    deadline.keep();
    deadline.extend(SILENCE_MS);
  }

  /** The events as they come, until the stream ends or breaks; a stream that broke is not told from one that ended. */
  async *events(): AsyncGenerator<EventSourceMessage, void, void> {
    const come: EventSourceMessage[] = [];
    const parser = createParser({
      maxBufferSize: LARGEST_EVENT,
      onEvent: (event) => void come.push(event),
      onRetry: (ms) => void (this.retryMs = ms),
    });
    const decoder = new TextDecoder();
    for (;;) {
      const piece = await this.#piece();
      if (piece === undefined) return;
      parser.feed(decoder.decode(piece, { stream: true }));
      yield* come.splice(0);
    }
  }

  async #piece(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await this.#reader.read();
      this.#deadline.extend(SILENCE_MS);
      return done ? undefined : value;
    } catch {
      return undefined;
    }
  }

  /** Closes it. */
  async close(): Promise<void> {
    this.#deadline.done();
    // It may be broken already.
    await this.#reader.cancel().catch(() => undefined);
  }
}
