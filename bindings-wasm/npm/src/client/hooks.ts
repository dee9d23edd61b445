/**
 * Hooks around each HTTP request of a client, for logs and traces.
 *
 * @module
 */

/** An HTTP request of the client. Nothing in it is secret. */
export interface HookRequest {
  /** The number of the call that it belongs to, from 1. A call may need several requests. */
  readonly call: number;
  /** The number of the request within the call, from 1. */
  readonly attempt: number;
  /** The HTTP method, in capitals. */
  readonly method: string;
  /** The URL. */
  readonly url: string;
  /** It fetches a challenge or a token, which calls may share, instead of carrying the call itself. */
  readonly renews: boolean;
}

/** A request that got a response, whatever its status. */
export interface HookResponse extends HookRequest {
  /** The HTTP status. */
  readonly status: number;
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}

/** A request that got no response, or a part of one. */
export interface HookFailure extends HookRequest {
  /** The reason: of `fetch`, or that of an aborted signal. */
  readonly error: unknown;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}

/**
 * Called around each HTTP request, in this order: `before`, then either `after` or `error`.
 *
 * They observe and cannot change what a call does: what they throw, or reject with, is written to the console, and the call goes on
 * as if the hook had done nothing. They should return at once, since the request waits for `before`.
 */
export interface Hooks {
  /**
   * May return headers to add, such as `{ traceparent }`. The request is signed by then, so headers that it has already, and those
   * that a signature covers, are refused like an exception. From a page, the server's CORS settings must allow a header; they
   * allow `traceparent` and `tracestate`.
   */
  readonly before?: (request: HookRequest) => Readonly<Record<string, string>> | void;
  /** A response was received. */
  readonly after?: (response: HookResponse) => void;
  /** There was no response. */
  readonly error?: (failure: HookFailure) => void;
}

/** What a signature covers if it is present; added later, it would not be covered. */
const COVERED: ReadonlySet<string> = new Set([
  "authorization",
  "content-type",
  "content-digest",
  "idempotency-key",
  "signature",
  "signature-input",
]);

/** Names and values. */
type Pairs = readonly (readonly [string, string])[];

function report(error: unknown): void {
  console.error("railgate: a hook failed", error);
}

/** Calls a hook. Whatever it does, the call goes on. */
export function told<E, R>(hook: ((event: E) => R) | undefined, event: E): R | undefined {
  try {
    const result = hook?.(event);
    // An `async` function is one that returns nothing, to the type checker.
    if (result instanceof Promise) return void result.catch(report);
    return result;
  } catch (error) {
    report(error);
    return undefined;
  }
}

/** The headers of a request, with those that a hook adds. */
export function withHeaders(hooks: Hooks, request: HookRequest, headers: Pairs): [string, string][] {
  const own = headers.map(([name, value]): [string, string] => [name, value]);
  const added = told(() => {
    const more = Object.entries(told(hooks.before, request) ?? {});
    for (const [name, value] of more) {
      const taken = COVERED.has(name.toLowerCase()) || own.some(([known]) => known === name.toLowerCase());
      if (taken) throw new TypeError(`hooks.before must not set ${name}`);
      // Throws for what is no header.
      new Headers([[name, value]]);
    }
    return more;
  }, undefined);
  return [...own, ...(added ?? [])];
}
