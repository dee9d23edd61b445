/**
 * Validation for forms: everything that is wrong with a payment, while it is being typed, by the very rules of the server.
 *
 * @module
 */

import { loadForms as loadModule } from "#load/forms";
import * as check from "./check.js";
import { guarded } from "./problem.js";
import type { CreateRequest, FieldProblem } from "./types.js";

export type { CreateRequest, FieldProblem } from "./types.js";
export type { AmountInput } from "./values.js";

/** What a form holds so far: any part of a request, amounts as typed, and whatever else it has. */
export type Draft = { readonly [Field in keyof CreateRequest]?: unknown } & Readonly<Record<string, unknown>>;

/** A draft that can be sent. */
export interface GoodDraft {
  /** It would pass the server's validation. */
  readonly ok: true;
  /** The request to send. */
  readonly request: CreateRequest;
  /** Nothing is wrong. */
  readonly problems: readonly [];
}

/** A draft that cannot be sent yet. */
export interface BadDraft {
  /** It would be refused. */
  readonly ok: false;
  /** Everything that is wrong, in the order of the fields. */
  readonly problems: readonly FieldProblem[];
}

/** What became of a draft. */
export type Checked = GoodDraft | BadDraft;

/** The validator, ready to be called at each key press: a call takes microseconds. */
export interface Forms {
  /**
   * Everything that is wrong with a settlement to be made, in the order of the fields.
   *
   * @param draft - The fields as they are; an object. Leave out what is not there.
   * @param now - For `expires_at`; the clock by default.
   */
  check(draft: Draft, now?: Date | number): Checked;
}

/** Loads the validator. Call it early: when the form is shown. */
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
 * The first problem of each field, by the field's name, for messages beside inputs: `/amount` is `amount`, `/metadata/order`
 * is `metadata`. Problems of the whole have the name `""`.
 */
export function problemsByField(problems: readonly FieldProblem[]): ReadonlyMap<string, FieldProblem> {
  const fields = new Map<string, FieldProblem>();
  for (const problem of problems) {
    const field = (problem.pointer.split("/")[1] ?? "").replaceAll("~1", "/").replaceAll("~0", "~");
    if (!fields.has(field)) fields.set(field, problem);
  }
  return fields;
}
