/**
 * Why a call of `fetch` failed. There is no standard for it: browsers tell nothing on purpose, and every runtime names causes its own way.
 *
 * @module
 */

import type { ConnectionReason } from "../errors.js";

/** What is known about a call without a response. */
export interface Failed {
  /** Why there was none. */
  readonly reason: ConnectionReason;
  /** A clause for a message. */
  readonly said: string;
  /** Provably nothing of the request was sent. */
  readonly notSent: boolean;
}

/** What Node and Bun call it, in `code`. */
const CODES: readonly (readonly [RegExp, ConnectionReason])[] = [
  [/^(ECONNREFUSED|ConnectionRefused)$/, "refused"],
  [/^(ENOTFOUND|EAI_\w+|DNSException)$/, "unknown_host"],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|FailedToOpenSocket)$/, "unreachable"],
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, "timeout"],
  [/CERT|ALTNAME|SELF_SIGNED/, "certificate"],
  [/^(ECONNRESET|EPIPE|UND_ERR_\w+|ConnectionClosed)$/, "broken"],
];

/** What Deno and others write, in `message`. */
const TEXTS: readonly (readonly [RegExp, ConnectionReason])[] = [
  [/certificate|UnknownIssuer/i, "certificate"],
  [/connection refused/i, "refused"],
  [/dns error|failed to lookup|name or service not known/i, "unknown_host"],
  [/unreachable/i, "unreachable"],
  [/connection (was )?(reset|closed|lost)/i, "broken"],
];

const SAID: Readonly<Record<ConnectionReason, string>> = {
  refused: "nothing listens at that address (connection refused)",
  unknown_host: "the host's name is not known",
  unreachable: "the host cannot be reached",
  offline: "this device is offline",
  timeout: "there was no response in time",
  certificate: "the server's certificate was not accepted",
  broken: "the connection broke",
  blocked: "the browser refused the call, or the server cannot be reached",
  proxy: "a proxy before the server answered",
  foreign_response: "the response does not belong to this call",
  unknown: "the connection failed",
};

/** One error of a chain. */
interface Link {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** The errors that an error is made of; of several addresses, those of each. */
function chain(error: unknown, depth = 0): readonly Link[] {
  if (typeof error !== "object" || error === null || depth > 4) return [];
  const { cause, errors } = error as Link;
  const each: readonly unknown[] = Array.isArray(errors) ? errors : [];
  return [error, ...chain(cause, depth + 1), ...each.flatMap((one) => chain(one, depth + 1))];
}

function matching(table: readonly (readonly [RegExp, ConnectionReason])[], text: unknown): ConnectionReason | undefined {
  return typeof text === "string" ? table.find(([pattern]) => pattern.test(text))?.[1] : undefined;
}

/** Whether a link of the chain can only come from making the connection, before anything is sent through it. */
function connecting({ code, syscall, message }: Link, reason: ConnectionReason | undefined): boolean {
  if (syscall === "connect" || syscall === "getaddrinfo" || code === "UND_ERR_CONNECT_TIMEOUT") return true;
  if (typeof message === "string" && message.includes("client error (Connect)")) return true;
  return reason === "refused" || reason === "unknown_host" || reason === "certificate";
}

/** The origin of the page or worker that this runs in, if it is a browser's. */
function origin(): string | undefined {
  const { location } = globalThis as { readonly location?: { readonly origin?: string } };
  return location?.origin;
}

/** What a browser may have refused, as far as the addresses tell. */
function blocked(url: URL, page: string): string {
  if (page.startsWith("https:") && url.protocol === "http:") return `${SAID.blocked}: a page of https may not call ${url.origin}`;
  return `${SAID.blocked}; if it runs, does it let this page call it (railgate serve --cors-origin ${page})?`;
}

/** Explains the error of `fetch`; `late` if this package's own timeout ended it. */
export function failed(error: unknown, address: string, late: boolean): Failed {
  if (late) return { reason: "timeout", said: SAID.timeout, notSent: false };
  const links = chain(error);
  for (const link of links) {
    const reason = matching(CODES, link.code) ?? matching(TEXTS, link.message);
    if (reason === undefined) continue;
    const detail = reason === "certificate" && typeof link.code === "string" ? ` (${link.code})` : "";
    return { reason, said: SAID[reason] + detail, notSent: links.some((each) => connecting(each, matching(CODES, each.code) ?? reason)) };
  }
  if ((globalThis as { readonly navigator?: { readonly onLine?: boolean } }).navigator?.onLine === false) {
    return { reason: "offline", said: SAID.offline, notSent: false };
  }
  const page = origin();
  const url = new URL(address);
  if (page !== undefined && page !== "null" && page !== url.origin) return { reason: "blocked", said: blocked(url, page), notSent: false };
  return { reason: "unknown", said: SAID.unknown, notSent: false };
}
