/**
 * The types of calls by path, from the table of routes.
 *
 * @module
 */

import type { Routes } from "../routes.js";
import type { Page } from "../types.js";
import type { CallOptions } from "./options.js";

/** The HTTP methods of the interface. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The paths below `/api/v1` that have a method. */
export type PathOf<M extends Method> = { [P in keyof Routes]: M extends keyof Routes[P] ? P : never }[keyof Routes];

/** A call in the table. */
export type Route<M extends Method, P extends PathOf<M>> = M extends keyof Routes[P] ? Routes[P][M] : never;

/** The types of a call's responses, by media type. */
type Answers<R> = R extends { readonly [name in "answers"]: infer A } ? A : never;

/** The media types of a call's responses. */
export type FormOf<R> = keyof Answers<R> & string;

/** The media type of a response unless the call asks for another; a call that has no JSON must ask. */
export type DefaultForm<R> = "application/json" extends FormOf<R> ? "application/json" : FormOf<R>;

/** The response to a call in a media type. */
export type AnswerOf<R, A> = A extends keyof Answers<R> ? Answers<R>[A] : never;

/** What can be set for every call in the table. */
export interface RouteBasics extends CallOptions {
  /**
   * Identifies a call that changes something, so that you can repeat it yourself. By default each call gets a new key, which an
   * error reports if you need it.
   */
  readonly idempotencyKey?: string | undefined;
}

/** What a call takes: `params` of the path, `query`, `body`, `accept`; `ifMatch` and `contentType` where it has them. */
export type RouteOptions<R, A> = Omit<R, "answers"> &
  RouteBasics &
  ("application/json" extends FormOf<R> ? Partial<Accepts<A>> : Accepts<A>);

/** Asks for a media type. */
export interface Accepts<A> {
  /** The media type of the response. */
  readonly accept: A;
}

/** The options of a call, which can be left out if nothing in them is required. */
export type RouteArguments<O> = object extends O ? [options?: O] : [options: O];

/** The paths of lists with pages. */
export type ListPath = {
  [P in PathOf<"GET">]: AnswerOf<Route<"GET", P>, "application/json"> extends { readonly next_cursor: string | null } ? P : never;
}[PathOf<"GET">];

/** A page of such a list. */
export type PageOf<P extends ListPath> =
  AnswerOf<Route<"GET", P>, "application/json"> extends infer A extends Page<unknown> ? A : never;
