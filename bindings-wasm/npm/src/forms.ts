/**
* Validation for forms: reports all problems of a payment while it is being typed, by the rules of the server.
 *
 * @module
 */

import { loadForms as loadModule } from "#load/forms";
import * as check from "./check.js";
import { type Messages, catalogue, messageFor } from "./messages.js";
import { guarded } from "./problem.js";
import type { CreateRequest, FieldProblem } from "./types.js";

export type { Messages } from "./messages.js";
export type { CreateRequest, FieldProblem } from "./types.js";
export type { AmountInput, TimeInput } from "./values.js";

/** The contents of a form so far: any part of a request, as typed. A field with an empty text counts as left out, and a time may be a `Date`. */
export type Draft = { readonly [Field in keyof CreateRequest]?: unknown };

/** A problem of a draft. */
export interface FormProblem extends FieldProblem {
  /** One sentence for the person who fills in the form, in the form's language. `message` is for developers. */
  readonly payerMessage: string;
}

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
  readonly problems: readonly FormProblem[];
}

/** The result of a check. */
export type Checked = GoodDraft | BadDraft;

/** The validator. A call takes microseconds, so it can run at each key press. */
export interface Forms {
  /**
   * Returns all problems of a draft, in the order of the fields.
   *
   * @param draft - An object with the current fields.
   * @param now - The time to compare `expires_at` with; `Date.now()` by default.
   */
  check(draft: Draft, now?: Date | number): Checked;
  /** One sentence for the person who fills in the form about any problem, such as one that a server returned. */
  payerMessage(problem: FieldProblem): string;
}

/** Options of the validator. */
export interface FormsOptions {
  /** The language of messages for payers, a BCP 47 tag: English (the default), French or Swahili. Any other is English. */
  readonly locale?: string | undefined;
  /** Texts of your own, instead of those of the catalogue or for other languages. */
  readonly messages?: Messages | undefined;
}

/** The draft as JSON, without the fields that are empty. An invalid `Date` stays a problem instead of becoming `null`. */
function body(draft: unknown): string {
  const fields = Object.entries(check.object(draft, "draft")).filter(([, value]) => value !== "");
  const said = (value: unknown): unknown => (value instanceof Date && Number.isNaN(value.getTime()) ? String(value) : value);
  return check.json(Object.fromEntries(fields.map(([name, value]) => [name, said(value)])), "draft");
}

/** Loads the validator. Call it early, when the form is shown. */
export async function loadForms(options: FormsOptions = {}): Promise<Forms> {
  const { locale = "en", messages: own = {} } = check.object(options, "options") as FormsOptions;
  const [{ check_settlement }, known] = await Promise.all([loadModule(), catalogue(check.text(locale, "options.locale"))]);
  const messages = { ...known, ...check.object(own, "options.messages") } as Messages;
  return {
    check(draft, now = Date.now()) {
      const request = body(draft);
      const at = check.instant(now, "now");
      const found = JSON.parse(guarded(() => check_settlement(request, at))) as readonly FieldProblem[];
      if (found.length === 0) return { ok: true, request: JSON.parse(request) as CreateRequest, problems: [] };
      return { ok: false, problems: found.map((problem) => ({ ...problem, payerMessage: messageFor(problem, messages) })) };
    },
    payerMessage: (problem) => messageFor(problem, messages),
  };
}

/**
* The first problem of each field, by the field's name, for messages beside inputs: `/amount` becomes `amount`, `/metadata/order`
 * becomes `metadata`. Problems of the whole request have the name `""`.
 */
export function problemsByField<P extends FieldProblem>(problems: readonly P[]): ReadonlyMap<string, P> {
  const fields = new Map<string, P>();
  for (const problem of problems) {
    const field = (problem.pointer.split("/")[1] ?? "").replaceAll("~1", "/").replaceAll("~0", "~");
    if (!fields.has(field)) fields.set(field, problem);
  }
  return fields;
}
