/** What would change: two values of JSON side by side, place by place. */

import type { Json, JsonObject } from "railgate/client";
import { text } from "../../shared/text";
import { type Column, Table } from "../../shared/ui/table";
import { Place, escaped, isNames, valueOf } from "./places";

const words = text.operator.changes;

export interface Change {
  /** Where, as an RFC 6901 pointer. */
  readonly pointer: string;
  /** What is there; nothing if there is nothing yet. */
  readonly before?: Json | undefined;
  /** What will be there; nothing if it goes. */
  readonly after?: Json | undefined;
}

const isObject = (value: Json | undefined): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

/** What is left out, null, or empty means the same to the gateway. */
const isNothing = (value: Json | undefined): boolean =>
  value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);

/** Every place at which `after` is not `before`. Elements of lists are compared by position, but lists of names as a whole. */
export function changesOf(before: Json | undefined, after: Json | undefined, pointer = ""): readonly Change[] {
  if (isNothing(before) && isNothing(after)) return [];
  const inner = (value: Json | undefined): Readonly<Record<string, Json>> | undefined =>
    isNames(value) ? undefined : Array.isArray(value) ? Object.fromEntries(value.map((one: Json, n) => [n, one])) : isObject(value) ? value : undefined;
  const [was, is] = [inner(before), inner(after)];
  if ((was ?? is) !== undefined && (was !== undefined || isNothing(before)) && (is !== undefined || isNothing(after))) {
    // What is new or gone is shown place by place, too.
    const names = [...new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})])];
    return names.flatMap((name) => changesOf(was?.[name], is?.[name], `${pointer}/${escaped(name)}`));
  }
  if (was === undefined && is === undefined && String(before ?? "") === String(after ?? "")) return [];
  return [{ pointer, ...(isNothing(before) ? {} : { before }), ...(isNothing(after) ? {} : { after }) }];
}

function Value({ pointer, value, gone }: { pointer: string; value: Json | undefined; gone: boolean }) {
  if (value === undefined) return <span class="optional">{words.nothing}</span>;
  const shown = valueOf(pointer, value);
  return gone ? <del class="change">{shown}</del> : <ins class="change">{shown}</ins>;
}

const COLUMNS: readonly Column<Change>[] = [
  { name: words.columns.place, cell: ({ pointer }) => <Place pointer={pointer} /> },
  { name: words.columns.before, cell: ({ pointer, before }) => <Value pointer={pointer} value={before} gone /> },
  { name: words.columns.after, cell: ({ pointer, after }) => <Value pointer={pointer} value={after} gone={false} /> },
];

export function Changes({ changes, none = words.none }: { changes: readonly Change[]; none?: string }) {
  if (changes.length === 0) return <p class="note">{none}</p>;
  return <Table caption={words.caption} columns={COLUMNS} rows={changes} id={({ pointer }) => pointer} />;
}
