/**
 * A signed conversation with one server: the core says what to sign and send, what an answer means and what may be sent again;
 * `fetch` sends it, and timers wait.
 *
 * @module
 */

import type { Exchange, Session } from "../../wasm/client.js";
import { ConnectionError, DisposedError, type ErrorDetails, InternalError, RailgateError } from "../errors.js";
import { guarded, isProblem, problemError } from "../problem.js";
import { Deadline, type Patience, pause, unlessAborted } from "./patience.js";
import type { Signer } from "./signer.js";

/** A call, without its signature. */
export interface Call {
  /** In capitals. */
  readonly method: string;
  /** Path and query as they travel. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON text; empty is none. */
  readonly body: string;
  /** It may be sent again when its answer got lost: nothing is done twice. */
  readonly repeatable: boolean;
  /** Made again by its caller it would be another call: nothing that the caller knows says that it is the same. */
  readonly once?: boolean;
  /** The key that it is sent under. */
  readonly idempotencyKey?: string | undefined;
  /** Whether the body of a 2xx, read as JSON, is an answer to it. One that is not is no answer. */
  readonly answers?: (body: unknown) => boolean;
  /** How much longer than others it may take, in milliseconds. */
  readonly extraMs: number;
  /** A key that it makes known, which signs too. */
  readonly newKey?: Signer;
  /** What an earlier one opened broke so often in a row, and is to be left alone so long, in milliseconds. */
  readonly after?: readonly [failures: number, ms: number] | undefined;
}

/** An answer that says that the call was carried out. */
export interface Answer {
  /** 200 to 299. */
  readonly status: number;
  /** Its headers. */
  readonly headers: Headers;
  /** Its body as text. */
  readonly text: string;
}

/** What is done with a 2xx: what is taken from it, and its body as far as it is here. */
type Take<A> = (response: Response, deadline: Deadline) => Promise<readonly [taken: A, body: string]>;

/** Is told of something new. */
type Learned = (clientId: string | undefined) => Promise<void>;

/** A request, as the core makes it. */
interface Wire {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** How it ended. */
interface Done {
  readonly verdict: "answered" | "refused" | "not_done" | "open" | "in_doubt";
  readonly why: "answer" | "unreadable" | "lost" | "not_ready" | "stopped" | "unsigned";
  readonly retry_after_ms?: number;
  readonly problem?: readonly [code: string, detail: string];
}

/** What the core says to do next: one of these. */
interface Step {
  readonly sign?: { readonly new_key: boolean };
  readonly send?: { readonly request: Wire; readonly timeout_ms: number; readonly prepares: boolean };
  readonly pause?: number;
  readonly done?: Done;
}

/** What came last, as an error. */
type Last = (done: Done) => unknown;

/** What an error tells about the call that it ended. */
type Told = Pick<Call, "once" | "idempotencyKey" | "newKey">;

/** Settings of `fetch` that not every runtime has. Nothing of an account belongs into a cache, and no cookies into a call. */
function settings(): RequestInit {
  const known = Request.prototype;
  return {
    redirect: "manual",
    ...("cache" in known ? { cache: "no-store" } : {}),
    ...("credentials" in known ? { credentials: "omit" } : {}),
    ...("referrerPolicy" in known ? { referrerPolicy: "no-referrer" } : {}),
  };
}

/** The core's session, driven. */
export class Connection {
  readonly #exchange: typeof Exchange;
  readonly #signer: Signer;
  readonly #fetch: typeof fetch;
  readonly #patience: Patience;
  readonly #settings = settings();
  /** Called when there is something new to keep, with the client's id where the answer names it. */
  readonly #learned: Learned;
  #session: Session | undefined;
  #renewal: Promise<void> | undefined;

  constructor(core: typeof Exchange, session: Session, signer: Signer, fetcher: typeof fetch, patience: Patience, learned: Learned) {
    this.#exchange = core;
    this.#session = session;
    this.#signer = signer;
    this.#fetch = fetcher;
    this.#patience = patience;
    this.#learned = learned;
  }

  /** The core's half. */
  get session(): Session {
    if (this.#session === undefined) throw new DisposedError("RailgateClient");
    return this.#session;
  }

  /** Frees it; what is under way finds it gone. */
  dispose(): void {
    this.#session?.free();
    this.#session = undefined;
  }

  /** Carries out a call; its answer, read. */
  send(call: Call, signal: AbortSignal): Promise<Answer> {
    return this.exchange(call, signal, this.#patience.attempts, async (response) => {
      const { status, headers } = response;
      const text = await response.text();
      if (call.answers?.(parsed(text)) === false) {
        const what = `what was answered (${status}) is no answer to this call; whether it was carried out is not known`;
        throw new ConnectionError("connection_lost", what, { status, ...again(call) });
      }
      return [{ status, headers, text }, text];
    });
  }

  /** Carries out a call; leaves its answer to `take`. */
  exchange<A>(call: Call, signal: AbortSignal, attempts: number, take: Take<A>): Promise<A> {
    const { method, path, headers, body, repeatable, extraMs, newKey, after = [0, 0] } = call;
    const { timeoutMs, pauseMs, longestPauseMs } = this.#patience;
    const jwk = newKey && JSON.stringify(newKey.publicKey);
    const times = [attempts, timeoutMs, extraMs, pauseMs, longestPauseMs, ...after];
    const exchange = guarded(() => new this.#exchange(method, path, headers.flat(), body, repeatable, jwk, times));
    return this.#drive(exchange, call, signal, take);
  }

  async #drive<A>(exchange: Exchange, call: Told, signal: AbortSignal, take: Take<A> | undefined): Promise<A> {
    let taken: A | undefined;
    let last: Last = () => undefined;
    const stopped = (error: unknown): void => {
      last = () => error;
      exchange.stop();
    };
    try {
      for (;;) {
        // Calls that need it at the same time wait for the same.
        if (take !== undefined && guarded(() => exchange.lacks(this.session, Date.now()))) {
          await unlessAborted(this.#renewed(exchange), signal).catch(stopped);
        }
        const random = crypto.getRandomValues(new Uint8Array(16));
        const { sign, send, pause: ms, done } = JSON.parse(guarded(() => exchange.next(this.session, Date.now(), random))) as Step;
        if (sign !== undefined) {
          const signer = (sign.new_key ? call.newKey : undefined) ?? this.#signer;
          await signed(exchange, signer, signal).catch(stopped);
        } else if (send !== undefined) {
          const tried = await this.#try(exchange, send, call, signal, take);
          if ("taken" in tried) taken = tried.taken;
          else last = tried.last;
        } else if (ms !== undefined) {
          await pause(ms, signal);
        } else if (done !== undefined) {
          if (done.verdict === "answered") return taken as A;
          const error = failure(done, last);
          throw done.verdict === "in_doubt" && !signal.aborted ? inDoubt(error, call) : error;
        }
      }
    } finally {
      exchange.free();
    }
  }

  /** A challenge, and a token. One caller's signal does not end what others wait for; the tries and their time-outs do. */
  #renewed(exchange: Exchange): Promise<void> {
    const { signal } = new AbortController();
    this.#renewal ??= this.#drive<void>(exchange.preparation(), {}, signal, undefined).finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }

  /** One try: what was taken from its answer, or why there is nothing to take. */
  async #try<A>(
    exchange: Exchange,
    { request, timeout_ms: ms, prepares }: NonNullable<Step["send"]>,
    call: Told,
    signal: AbortSignal,
    take: Take<A> | undefined,
  ): Promise<{ readonly taken: A } | { readonly last: Last }> {
    const deadline = new Deadline(ms, signal);
    // Detached: a page's own `fetch` is no method of ours.
    const fetcher = this.#fetch;
    try {
      const response = await fetcher(this.session.base() + request.path, this.#init(request, deadline.signal));
      if (response.ok && !prepares && take !== undefined) {
        const [taken, text] = await take(response, deadline);
        this.#answered(exchange, response, text);
        return { taken };
      }
      const text = await response.text();
      this.#answered(exchange, response, text);
      if (response.ok) await this.#learned(clientIdIn(text));
      return { last: (done) => refusal(response, text, call, done) };
    } catch (cause) {
      signal.throwIfAborted();
      const garbled = cause instanceof ConnectionError;
      if (cause instanceof RailgateError && !garbled) throw cause;
      exchange.lost(garbled);
      const late = deadline.signal.aborted;
      return { last: () => (garbled ? cause : lost(cause, late, call)) };
    } finally {
      deadline.release();
    }
  }

  #init(wire: Wire, signal: AbortSignal): RequestInit {
    const headers = wire.headers.map(([name, value]): [string, string] => [name, value]);
    return { ...this.#settings, method: wire.method, headers, signal, ...(wire.body === "" ? {} : { body: wire.body }) };
  }

  #answered(exchange: Exchange, { status, headers }: Response, body: string): void {
    guarded(() => exchange.answered(this.session, status, [...headers].flat(), body, Date.now()));
  }
}

/** Has a key sign what is to be signed. */
async function signed(exchange: Exchange, signer: Signer, signal: AbortSignal): Promise<void> {
  const signature = await unlessAborted(signer.sign(exchange.to_sign()), signal);
  if (!ArrayBuffer.isView(signature)) throw new TypeError("what a signer's sign gives must be a Uint8Array");
  guarded(() => exchange.signed(signature));
}

function clientIdIn(text: string): string | undefined {
  const { client_id: id } = (parsed(text) ?? {}) as { client_id?: unknown };
  return typeof id === "string" ? id : undefined;
}

/** What an error says about a call that may have been carried out: whether its caller may make it again, and under which key. */
function again({ once, idempotencyKey }: Told): ErrorDetails {
  return { retryable: once !== true, idempotencyKey };
}

/** Why a call ended without the answer that was wanted. */
function failure(done: Done, last: Last): unknown {
  if (done.problem !== undefined) return problemError({ code: done.problem[0], detail: done.problem[1] });
  if (done.why !== "not_ready") return last(done);
  return new InternalError("not_ready", "the server's challenges or tokens end before they can be used; is its clock right?");
}

function refusal(response: Response, text: string, call: Told, { verdict, why, retry_after_ms: retryAfterMs }: Done): RailgateError {
  const { status } = response;
  const problem = parsed(text);
  if (why === "answer" && isProblem(problem)) {
    // The server sees a key where there is one, and cannot know that nobody else does.
    const doubt = verdict === "open" ? { ...again(call), ...(problem.retryable === true ? {} : { retryable: false }) } : {};
    return problemError({ ...problem, status }, { retryAfterMs, ...doubt });
  }
  if (why === "lost") {
    return new ConnectionError("connection_lost", `something before the server answered ${status}`, { status, ...again(call), retryAfterMs });
  }
  const said = response.type === "opaqueredirect" ? "a redirect" : String(status);
  const what = `${said} is not an answer of this interface; is the address right?`;
  return new InternalError("unreadable_answer", what, { status, idempotencyKey: call.idempotencyKey });
}

/** What became of a try before is not known, and `cause` does not tell. */
function inDoubt(cause: unknown, call: Told): ConnectionError {
  const { code, name, retryAfterMs } = (cause ?? {}) as RailgateError;
  const what = `no answer came to a try, and another failed (${code ?? name}); whether the call was carried out is not known`;
  return new ConnectionError("connection_lost", what, { ...again(call), retryAfterMs, cause });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function lost(cause: unknown, late: boolean, call: Told): ConnectionError {
  const what = late ? "no answer came in time" : "the connection broke, or was not allowed";
  return new ConnectionError("connection_lost", `${what}; whether the call was carried out is not known`, { ...again(call), cause });
}
