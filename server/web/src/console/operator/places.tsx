/** JSON as a reader sees it: places and values in words. The pointer is in the title, for those who write to the API. */

import type { Json } from "railgate/client";
import { worded } from "../../shared/format";
import { text } from "../../shared/text";

const words = text.operator.places;

export const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");
const unescaped = (name: string): string => name.replaceAll("~1", "/").replaceAll("~0", "~");

/** What is below these are names that somebody chose. */
const CHOSEN: ReadonlySet<string | undefined> = new Set(["settings", "secrets", "metadata"]);

/** One step of a pointer: the name of a member, the number of an element, or what a map has, such as a currency. */
function stepOf(name: string, above: string | undefined): string {
  if (CHOSEN.has(above)) return name;
  if (/^\d+$/.test(name)) return String(Number(name) + 1);
  return words.names[name] ?? (/^[a-z]/.test(name) ? worded(name) : name);
}

/** A place as words: `/limits/KES/max` is "Limits › KES › Largest". */
export function placeOf(pointer: string): string {
  const names = pointer.split("/").slice(1).map(unescaped);
  const steps = names.map((name, n) => stepOf(name, names[n - 1]));
  // Of a bundle, the manifest is what one talks about.
  return (steps.length > 1 && names[0] === "manifest" ? steps.slice(1) : steps).join(" › ") || words.whole;
}

export const Place = ({ pointer }: { pointer: string }) => <span title={pointer}>{placeOf(pointer)}</span>;

/** A list such as that of currencies is read as one value. */
export const isNames = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");

/** A list or an object with nothing in it, which may replace one that has something. */
const isEmpty = (value: Json): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** A value as words, where the interface has words for it. */
export function valueOf(pointer: string, value: Json | undefined): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? text.yes : text.no;
  if (isNames(value)) return value.join(", ");
  if (isEmpty(value)) return text.none;
  if (typeof value === "object") return JSON.stringify(value, null, 2);
  const member = pointer.slice(pointer.lastIndexOf("/") + 1);
  return words.values[member]?.[String(value)] ?? String(value);
}

interface Leaf {
  readonly pointer: string;
  readonly value: Json;
}

/** Every value in JSON, with its place; also what is empty, below the top. */
export const leavesOf = (value: Json, pointer = ""): readonly Leaf[] =>
  typeof value === "object" && value !== null && !isNames(value) && (pointer === "" || !isEmpty(value))
    ? Object.entries(value).flatMap(([name, one]) => leavesOf(one as Json, `${pointer}/${escaped(name)}`))
    : [{ pointer, value }];

export function Places({ of }: { of: readonly Leaf[] }) {
  if (of.length === 0) return null;
  return (
    <dl class="places">
      {of.map(({ pointer, value }) => (
        <div key={pointer}>
          <dt>
            <Place pointer={pointer} />
          </dt>
          <dd>{valueOf(pointer, value)}</dd>
        </div>
      ))}
    </dl>
  );
}
