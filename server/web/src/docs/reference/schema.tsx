/** What a body consists of: its members with type, bounds and meaning. Members of members open on demand. */

import { useState } from "preact/hooks";
import { docs } from "../../shared/text/docs";
import { type Reference, type Schema, alternatives, members, nameOf, resolve } from "./document";
import { Line } from "./markup";

const words = docs.reference;

/** The type of a schema in a few words. */
export function typeOf(schema: Schema, reference: Reference): string {
  const one = resolve(schema, reference);
  const several = alternatives(one);
  if (several.length > 0) return several.map((part) => typeOf(part, reference)).join(" | ");
  if (one.items !== undefined) return `array of ${typeOf(one.items, reference)}`;
  if (members(one, reference).length > 0) return nameOf(schema) ?? "object";
  const types = [one.type ?? "object"].flat().filter((type) => type !== "null");
  return types.join(" | ") + (one.format === undefined ? "" : ` (${one.format})`);
}

/** Whether a schema may be null. */
function nullable(schema: Schema, reference: Reference): boolean {
  const one = resolve(schema, reference);
  return [one.type ?? []].flat().includes("null") || (one.oneOf ?? one.anyOf ?? []).some(({ type }) => type === "null");
}

/** The bounds of a value, as the document writes them. */
function bounds(one: Schema): readonly string[] {
  const all: readonly (readonly [string, unknown])[] = [
    ["pattern", one.pattern],
    ["≥", one.minimum],
    ["≤", one.maximum],
    ["length ≥", one.minLength],
    ["length ≤", one.maxLength],
    ["items ≤", one.maxItems],
    ["default", one.default],
  ];
  return all.filter(([, value]) => value !== undefined && value !== null).map(([name, value]) => `${name} ${String(value)}`);
}

/** What a value may be besides its type: its words, its bounds. */
export function Limits({ schema, reference }: { schema: Schema; reference: Reference }) {
  const only = alternatives(resolve(schema, reference));
  const one = only.length === 1 && only[0] !== undefined ? resolve(only[0], reference) : resolve(schema, reference);
  const listed = one.enum ?? (one.items === undefined ? undefined : resolve(one.items, reference).enum);
  const limits = bounds(one);
  return (
    <>
      {listed === undefined ? null : (
        <p class="limits">
          {words.oneOf}{" "}
          {listed.map((word) => (
            <code key={String(word)}>{String(word)}</code>
          ))}
        </p>
      )}
      {limits.length === 0 ? null : (
        <p class="limits">
          {limits.map((limit) => (
            <code key={limit}>{limit}</code>
          ))}
        </p>
      )}
    </>
  );
}

/** The schemas whose members are worth opening below a member: its own, those of its items, or of its alternatives. */
function inside(schema: Schema, reference: Reference): readonly Schema[] {
  const one = resolve(schema, reference);
  const several = alternatives(one);
  if (several.length > 0) return several.flatMap((part) => inside(part, reference));
  if (one.items !== undefined) return inside(one.items, reference);
  if (typeof one.additionalProperties === "object") return inside(one.additionalProperties, reference);
  return members(one, reference).length > 0 ? [schema] : [];
}

interface MembersProps {
  readonly schema: Schema;
  readonly reference: Reference;
}

export function Members({ schema, reference }: MembersProps) {
  return (
    <ul class="members">
      {members(schema, reference).map(([name, of, required]) => (
        <li key={name}>
          <p class="member">
            <code>{name}</code>
            <span>
              {typeOf(of, reference)}
              {nullable(of, reference) ? " | null" : ""}
            </span>
            {required ? <em>{words.required}</em> : null}
          </p>
          <Explained schema={of} reference={reference} />
        </li>
      ))}
    </ul>
  );
}

/** What a member means and may be, and its own members on demand. */
function Explained({ schema, reference }: MembersProps) {
  const { description } = resolve(schema, reference);
  const [only] = alternatives(schema);
  const said = description ?? (only === undefined ? undefined : resolve(only, reference).description);
  return (
    <>
      {said === undefined ? null : (
        <p>
          <Line text={said} />
        </p>
      )}
      <Limits schema={schema} reference={reference} />
      {inside(schema, reference).map((part, n) => (
        <Opened key={nameOf(part) ?? n} schema={part} reference={reference} />
      ))}
    </>
  );
}

function Opened({ schema, reference }: MembersProps) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {words.members} {nameOf(schema) === undefined ? "" : nameOf(schema)}
      </summary>
      {open ? <Members schema={schema} reference={reference} /> : null}
    </details>
  );
}

/** A whole body: its alternatives, each with its members. */
export function Body({ schema, reference }: MembersProps) {
  const parts = inside(schema, reference);
  if (parts.length === 0) return <Explained schema={schema} reference={reference} />;
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    return (
      <>
        <p class="note">{typeOf(schema, reference)}</p>
        <Members schema={only} reference={reference} />
      </>
    );
  }
  return (
    <>
      <p class="note">{words.oneOf}</p>
      {parts.map((part, n) => (
        <Opened key={nameOf(part) ?? n} schema={part} reference={reference} />
      ))}
    </>
  );
}
