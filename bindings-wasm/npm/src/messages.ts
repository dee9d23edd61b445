/**
 * Messages for the person who fills in a form, from the core's catalogues.
 *
 * @module
 */

import { messages as english } from "../wasm/messages_en.js";
import type { FieldProblem } from "./types.js";

/**
 * Texts by the code of a problem, or by the code and, after a full stop, `nearest`, a hint, a field or a number: of `required.amount`
 * and `required`, the first that exists is taken. `{max}` and the like stand for values of the problem's `params`.
 */
export type Messages = Readonly<Record<string, string>>;

/** The catalogues that are loaded when they are asked for, by language. */
const LOADED: Readonly<Record<string, () => Promise<{ readonly messages: Messages }>>> = {
  fr: () => import("../wasm/messages_fr.js"),
  sw: () => import("../wasm/messages_sw.js"),
};

/** The catalogue of a locale's language; English if there is none. */
export async function catalogue(locale: string): Promise<Messages> {
  const language = (locale.split(/[-_]/, 1)[0] ?? "").toLowerCase();
  const load = Object.hasOwn(LOADED, language) ? LOADED[language] : undefined;
  return load === undefined ? english : (await load()).messages;
}

/** The message about a problem. */
export function messageFor({ pointer, code, params = {} }: FieldProblem, messages: Messages): string {
  const details = [params["nearest"] && "nearest", params["hint"], pointer.split("/")[1], params["min"], params["max"]];
  const keys = [...details.filter(Boolean).map((detail) => `${code}.${detail}`), code];
  for (const key of keys) {
    const text = messages[key];
    if (text === undefined) continue;
    const names = [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
    if (names.every((name) => params[name] !== undefined)) return text.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "");
  }
  return messages["other"] ?? english.other;
}
