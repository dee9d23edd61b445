/**
* Validation for forms: reports all problems of a payment while it is being typed, by the rules of the server.
 *
 * @module
 */

import { loadForms as loadModule } from "#load/forms";
import * as check from "./check.js";
import { guarded } from "./problem.js";
import type { CreateRequest, FieldProblem } from "./types.js";

export type { CreateRequest, FieldProblem } from "./types.js";
export type { AmountInput } from "./values.js";

/** The contents of a form so far: any part of a request, amounts as typed, and any other members. */
export type Draft = { readonly [Field in keyof CreateRequest]?: unknown } & Readonly<Record<string, unknown>>;

/** A draft that can be sent. */
export interface GoodDraft {
  /** It passes the server's validation. */
  readonly ok: true;
  /** The request to send. */
  readonly request: CreateRequest;
  /** There are no problems. */
  readonly problems: readonly [];
}

/** A draft that cannot be sent yet. */
export interface BadDraft {
  /** The server would refuse it. */
  readonly ok: false;
  /** All problems, in the order of the fields. */
  readonly problems: readonly FieldProblem[];
}

/** The result of a check. */
export type Checked = GoodDraft | BadDraft;

/** The validator. A call takes microseconds, so it can run at each key press. */
export interface Forms {
  /**
   * Returns all problems of a draft, in the order of the fields.
   *
   * @param draft - An object with the current fields; leave out absent ones.
   * @param now - The time to compare `expires_at` with; `Date.now()` by default.
   */
  check(draft: Draft, now?: Date | number): Checked;
}

/** Loads the validator. Call it early, when the form is shown. */
export async function loadForms(): Promise<Forms> {
  const { check_settlement } = await loadModule();
  return {
    check(draft, now = Date.now()) {
      const body = check.json(draft, "draft");
      const at = check.instant(now, "now");
      const problems = JSON.parse(guarded(() => check_settlement(body, at))) as readonly FieldProblem[];
      if (problems.length > 0) return { ok: false, problems };
      return { ok: true, request: JSON.parse(body) as CreateRequest, problems: [] };
    },
  };
}

/**
* The first problem of each field, by the field's name, for messages beside inputs: `/amount` becomes `amount`, `/metadata/order`
 * becomes `metadata`. Problems of the whole request have the name `""`.
 */
export function problemsByField(problems: readonly FieldProblem[]): ReadonlyMap<string, FieldProblem> {
  const fields = new Map<string, FieldProblem>();
  for (const problem of problems) {
    const field = (problem.pointer.split("/")[1] ?? "").replaceAll("~1", "/").replaceAll("~0", "~");
    if (!fields.has(field)) fields.set(field, problem);
  }
  return fields;
}
