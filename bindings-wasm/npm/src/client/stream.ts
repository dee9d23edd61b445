/**
* Streams of events (Server-Sent Events) over `fetch`, because requests of `EventSource` cannot be signed.
 *
 * @module
 */

import { type EventSourceMessage, createParser } from "eventsource-parser";
import { ConnectionError, RailgateError } from "../errors.js";
import type { Deadline } from "./patience.js";

/** The server sends a comment every 15 seconds; a stream that is silent for longer than this is broken. */
const SILENCE_MS = 45_000;
/** Larger than any event, in characters. */
const LARGEST_EVENT = 1 << 20;

/** An open stream of events. */
export class EventStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #deadline: Deadline;
  /** How long the server asks to wait before reconnecting, in milliseconds. */
  retryMs: number | undefined;

  /** Takes over a response and its deadline, which from now on limits the time between two chunks. */
  constructor(response: Response, deadline: Deadline) {
    this.#reader = body(response).getReader();
    this.#deadline = deadline;
    deadline.keep();
    deadline.extend(SILENCE_MS);
  }

  /** The events as they arrive, until the stream ends or breaks; the two are not distinguished. */
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

  /** Closes the stream. */
  async close(): Promise<void> {
    this.#deadline.done();
    // It may be broken already.
    await this.#reader.cancel().catch(() => undefined);
  }
}

/** The lines of a response as they arrive. Throws if it breaks off. The consumer may take its time. */
export async function* lines(response: Response, deadline: Deadline): AsyncGenerator<string, void, void> {
  const reader = body(response).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      deadline.extend(SILENCE_MS);
      const { done, value } = await reader.read();
      deadline.hold();
      const found = (rest + decoder.decode(value, { stream: !done })).split("\n");
      rest = done ? "" : (found.pop() ?? "");
      yield* found.filter((line) => line !== "");
      if (done) return;
    }
  } catch (cause) {
    throw new ConnectionError("connection_lost", "the response broke off", { retryable: true, cause });
  } finally {
    deadline.done();
    await reader.cancel().catch(() => undefined);
  }
}

function body(response: Response): ReadableStream<Uint8Array> {
  if (response.body === null) throw new RailgateError("unreadable_answer", "the response is not a stream");
  return response.body;
}
