/**
* Builds calls of the HTTP interface.
 *
 * @module
 */

import * as check from "../check.js";
import type { Call } from "./connection.js";
import type { FeedOptions } from "./options.js";

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
export function get(path: string, accept = "application/json"): Call {
  return { method: "GET", path: plain(path), headers: [["accept", accept]], body: "", repeatable: true, extraMs: 0 };
}

/** A call that may change something. All of ours are repeatable: by their reference, their key, or because they change nothing. */
export function post(path: string, body: string, more: Headers = [], accept = "application/json"): Call {
  const type: Headers = body === "" ? [] : [["content-type", "application/json"]];
  const headers: Headers = [["accept", accept], ...type, ...more];
  return { method: "POST", path: plain(path), headers, body, repeatable: true, extraMs: 0 };
}

/** A call that streams the events after a position. */
export function streamed(path: string, place: number): Call {
  const last: Headers = place === 0 ? [] : [["last-event-id", String(place)]];
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
  throw new TypeError(`${name} must be text, a number or a boolean`);
}
