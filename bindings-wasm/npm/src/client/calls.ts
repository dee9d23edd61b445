/**
* Builds calls of the HTTP interface.
 *
 * @module
 */

import * as check from "../check.js";
import type { Call } from "./connection.js";
import type { FeedOptions } from "./options.js";

const JSON_FORM = "application/json";

/** The path prefix of the API. */
export const API = "/api/v1";
/** The path prefix of calls about settlements. */
export const SETTLEMENTS = `${API}/gateway/settlements`;

type Headers = Call["headers"];

/** A call that the core built, sent before there is a token. */
export function unauthenticated(request: string): Call {
  const made = JSON.parse(request) as Pick<Call, "method" | "path" | "headers" | "body">;
  return { ...made, repeatable: true, extraMs: 0 };
}

/** A call that reads. */
export function get(path: string, accept = JSON_FORM): Call {
  return { method: "GET", path: plain(path), headers: [["accept", accept]], body: "", repeatable: true, extraMs: 0 };
}

/** A call that may change something. All of ours are repeatable: by their reference, their key, or because they change nothing. */
export function post(path: string, body: string, more: Headers = [], accept = JSON_FORM): Call {
  const type: Headers = body === "" ? [] : [["content-type", JSON_FORM]];
  const headers: Headers = [["accept", accept], ...type, ...more];
  return { method: "POST", path: plain(path), headers, body, repeatable: true, extraMs: 0 };
}

/** A call that streams the events after a position. */
export function streamed(path: string, place: number | string): Call {
  const last: Headers = place === 0 || place === "" ? [] : [["last-event-id", String(place)]];
  return { ...get(path), headers: [["accept", "text/event-stream"], ...last] };
}

/** Refuses a path that `fetch` would rewrite (dot segments, spaces), because the signature covers it. */
function plain(path: string): string {
  const url = new URL(path, "http://railgate.invalid");
  if (url.pathname + url.search !== path) throw new TypeError(`${path} is not a normalised path; encode its parts`);
  return path;
}

/** Encodes one segment of a path. */
export function part(value: string, name: string): string {
  return encodeURIComponent(check.filled(value, name));
}

/** The path of a settlement. */
export function one(ref: string): string {
  return `${SETTLEMENTS}/${part(ref, "ref")}`;
}

/** What a call by path takes at run time; its types are those of the table of routes. */
export interface Routed {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: object | string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly ifMatch?: string;
  readonly idempotencyKey?: string | undefined;
}

/** A call of the table of routes. Each is repeatable: what changes something has a key, if it has no reference. */
export function routed(method: string, template: string, options: Routed): Call {
  const given: Routed = check.object(options, "options");
  const { params, query: asked = {}, body, accept = JSON_FORM, contentType, ifMatch, idempotencyKey } = given;
  // The path of a tile has several segments, which `plain` checks.
  const filled = (_: string, name: string): string => {
    return (name === "tile" ? check.filled : part)(params?.[name] as string, `options.params.${name}`);
  };
  const path = plain(API + check.text(template, "path").replace(/\{(\w+)\}/g, filled) + query(check.object(asked, "options.query")));
  // Text is sent as it is, such as a statement; its type is then part of the call.
  const own = typeof body === "string" && contentType !== undefined;
  const text = body === undefined ? "" : own ? body : check.json(body, "options.body");
  if (text !== "" && method === "GET") throw new TypeError("a GET has no body");
  const key = method === "GET" || method === "DELETE" ? undefined : (idempotencyKey ?? crypto.randomUUID());
  const headers: [string, string][] = [["accept", check.header(accept, "options.accept")]];
  if (text !== "") headers.push(["content-type", check.header(contentType ?? JSON_FORM, "options.contentType")]);
  if (key !== undefined) headers.push(["idempotency-key", check.header(key, "options.idempotencyKey")]);
  if (ifMatch !== undefined) headers.push(["if-match", check.header(ifMatch, "options.ifMatch")]);
  const once = key !== undefined && idempotencyKey === undefined;
  return { method, path, headers, body: text, repeatable: true, once, idempotencyKey: key, extraMs: 0 };
}

/** The query string for a page of events. */
export function range(options: FeedOptions): string {
  const { after, epoch, limit } = options;
  const whole = (value: number | undefined, name: string, least: number): number | undefined =>
    value === undefined ? undefined : check.whole(value, `options.${name}`, least);
  return query({ after: whole(after, "after", 0), epoch: whole(epoch, "epoch", 1), limit });
}

/** The query string of these parameters; absent ones are left out, and a list repeats its name. */
export function query(parameters: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.map((each) => [name, scalar(each, name)]);
  });
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}

function scalar(value: unknown, name: string): string {
  if (value instanceof Date) return new Date(check.instant(value, name)).toISOString();
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw new TypeError(`${name} must be text, a number, a boolean or a Date`);
}
