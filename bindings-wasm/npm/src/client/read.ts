/**
 * Reads responses.
 *
 * @module
 */

import { InternalError } from "../errors.js";
import { parseView } from "../json.js";
import type { Answer } from "./connection.js";

/** The body of a response as JSON, with amounts as text. */
export function view<T>(answer: Pick<Answer, "text" | "status">): T {
  try {
    return parseView(answer.text) as T;
  } catch (cause) {
    throw new InternalError("unreadable_answer", "the response is not JSON", { status: answer.status, cause });
  }
}

/** The body of a response with any content, or none. */
export function json(text: string): unknown {
  return text === "" ? undefined : view({ text, status: 200 });
}

/** The items of a list without pages. */
export function data<T>(answer: Answer): readonly T[] {
  return view<{ data: readonly T[] }>(answer).data;
}

/** Whether `said` is a settlement with that reference or id, not a captive portal's page or the response to another call. */
export function isOf(said: unknown, ref: unknown): boolean {
  if (typeof ref !== "string") return false;
  const { id, reference } = (said ?? {}) as Readonly<Record<string, unknown>>;
  // The server accepts ids in upper and lower case.
  return reference === ref || (typeof id === "string" && id.toUpperCase() === ref.toUpperCase());
}
