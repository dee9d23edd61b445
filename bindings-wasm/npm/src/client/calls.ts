/**
 * Calls of the HTTP interface, as they travel.
 *
 * @module
 */

import * as check from "../check.js";
import type { Call } from "./connection.js";
import type { EventsOptions } from "./options.js";

/** Where all calls are. */
export const API = "/api/v1";
/** Where those about settlements are. */
export const SETTLEMENTS = `${API}/gateway/settlements`;

type Headers = Call["headers"];

/** A call that the core made, before there is a token. */
export function unauthenticated(request: string): Call {
  const made = JSON.parse(request) as Pick<Call, "method" | "path" | "headers" | "body">;
  return { ...made, repeatable: true, extraMs: 0 };
}

/** One that only looks. */
export function get(path: string, accept = "application/json"): Call {
  return { method: "GET", path: plain(path), headers: [["accept", accept]], body: "", repeatable: true, extraMs: 0 };
}

/** All of ours may be repeated: by their reference, their key, or because they change nothing. */
export function post(path: string, body: string, more: Headers = [], accept = "application/json"): Call {
  const type: Headers = body === "" ? [] : [["content-type", "application/json"]];
  const headers: Headers = [["accept", accept], ...type, ...more];
  return { method: "POST", path: plain(path), headers, body, repeatable: true, extraMs: 0 };
}

/** A stream from after a position on. */
export function streamed(path: string, place: number): Call {
  const last: Headers = place === 0 ? [] : [["last-event-id", String(place)]];
  return { ...get(path), headers: [["accept", "text/event-stream"], ...last] };
}

/** A path that travels as it is signed: `fetch` rewrites others (dot segments, spaces). */
function plain(path: string): string {
  const url = new URL(path, "http://railgate.invalid");
  if (url.pathname + url.search !== path) throw new TypeError(`${path} is not a path as it travels; encode its parts`);
  return path;
}

/** A part of a path. */
export function part(value: string, name: string): string {
  return encodeURIComponent(check.filled(value, name));
}

/** The path of a settlement. */
export function one(ref: string): string {
  return `${SETTLEMENTS}/${part(ref, "ref")}`;
}

/** The query of a page of events. */
export function range(options: EventsOptions): string {
  const { after, limit } = options;
  return query({ after: after === undefined ? undefined : check.whole(after, "options.after", 0), limit });
}

/** The query with these parameters; those that are not there are left out, and lists repeat theirs. */
export function query(parameters: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.map((each) => [name, scalar(each, name)]);
  });
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}

function scalar(value: unknown, name: string): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw new TypeError(`${name} must be text, a number or a boolean`);
}
