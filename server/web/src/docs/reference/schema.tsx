/** What a body consists of: its members with type, bounds and meaning. Members of members open on demand. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Content, type Reference, type Schema, alternatives, members, nameOf, resolve } from "./document";
import { Line } from "./markup";
import { sized, words } from "./text";

/** Formats that say how wide a number is stored, which no caller needs. */
const WIDTH = /^(u?int\d|float|double)/;

/** The type of a schema in a few words. */
export function typeOf(schema: Schema, reference: Reference): string {
  const one = resolve(schema, reference);
  const several = alternatives(one);
  if (several.length > 0) return several.map((part) => typeOf(part, reference)).join(" | ");
  if (one.items !== undefined) return `array of ${typeOf(one.items, reference)}`;
  if (members(one, reference).length > 0) return nameOf(schema) ?? "object";
  const types = [one.type ?? "object"].flat().filter((type) => type !== "null");
  return types.join(" | ") + (one.format === undefined || WIDTH.test(one.format) ? "" : ` (${one.format})`);
}

/** Whether a schema may be null. */
function nullable(schema: Schema, reference: Reference): boolean {
  const one = resolve(schema, reference);
  return [one.type ?? []].flat().includes("null") || (one.oneOf ?? one.anyOf ?? []).some(({ type }) => type === "null");
}

/** The bounds of a value, each in a few words. */
function bounds(one: Schema): readonly string[] {
  const named = (name: string, value: unknown): string => (value === undefined || value === null ? "" : `${name} ${String(value)}`);
  const all = [
    named("pattern", one.pattern),
    named("≥", one.minimum),
    named("≤", one.maximum),
    sized("characters", one.minLength, one.maxLength),
    sized("items", undefined, one.maxItems),
    named("default", one.default),
  ];
  return all.filter((bound) => bound !== "");
}

/** What a value may be besides its type: its words, its bounds, an example. */
export function Limits({ schema, reference }: { schema: Schema; reference: Reference }) {
  const only = alternatives(resolve(schema, reference));
  const one = only.length === 1 && only[0] !== undefined ? resolve(only[0], reference) : resolve(schema, reference);
  const listed = one.enum ?? (one.items === undefined ? undefined : resolve(one.items, reference).enum);
  // Of a named schema, the example may be another one than here.
  const example = typeof schema.example === "object" ? undefined : schema.example;
  return (
    <>
      <Codes label={words.oneOf} values={listed ?? []} />
      <Codes values={bounds(one)} />
      <Codes label={words.example} values={example === undefined ? [] : [example]} />
    </>
  );
}

function Codes({ label, values }: { label?: string; values: readonly unknown[] }) {
  return values.length === 0 ? null : (
    <p class="limits">
      {label}
      {values.map((value) => (
        <code key={String(value)}>{String(value)}</code>
      ))}
    </p>
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

interface MemberProps {
  readonly name: string;
  readonly type: string;
  readonly required?: boolean | undefined;
  readonly description?: string | undefined;
  readonly children?: ComponentChildren;
}

/** A member, a parameter or a header: its name, its type, and what it means. */
export function Member({ name, type, required, description, children }: MemberProps) {
  return (
    <li>
      <p class="member">
        <code>{name}</code>
        <span>{type}</span>
        {required === true ? <em>{words.required}</em> : null}
      </p>
      {description === undefined ? null : (
        <p>
          <Line text={description} />
        </p>
      )}
      {children}
    </li>
  );
}

interface MembersProps {
  readonly schema: Schema;
  readonly reference: Reference;
}

function Members({ schema, reference }: MembersProps) {
  return (
    <ul class="members">
      {members(schema, reference).map(([name, of, required]) => (
        <Member
          key={name}
          name={name}
          type={typeOf(of, reference) + (nullable(of, reference) ? " | null" : "")}
          required={required}
          description={meaning(of, reference)}
        >
          <Inside schema={of} reference={reference} />
        </Member>
      ))}
    </ul>
  );
}

/** What a schema means; if it is something or null, what that something means. */
function meaning(schema: Schema, reference: Reference): string | undefined {
  const [only] = alternatives(schema);
  return resolve(schema, reference).description ?? (only === undefined ? undefined : resolve(only, reference).description);
}

/** What a member may be, and its own members on demand. */
function Inside({ schema, reference }: MembersProps) {
  return (
    <>
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
        <span>{words.members(nameOf(schema))}</span>
      </summary>
      {open ? <Members schema={schema} reference={reference} /> : null}
    </details>
  );
}

/** The bodies of a request or an answer, by their types. */
export function Bodies({ content, reference }: { content: Readonly<Record<string, Content>>; reference: Reference }) {
  return (
    <>
      {Object.entries(content).map(([type, { schema }]) => (
        <div key={type}>
          <p class="media">
            <code>{type}</code>
            {schema === undefined ? null : <span>{typeOf(schema, reference)}</span>}
          </p>
          {schema === undefined ? null : <Body schema={schema} reference={reference} />}
        </div>
      ))}
    </>
  );
}

/** A whole body: its members, or those of each alternative on demand. */
function Body({ schema, reference }: MembersProps) {
  const [only, ...others] = inside(schema, reference);
  if (only !== undefined && others.length === 0) return <Members schema={only} reference={reference} />;
  const description = meaning(schema, reference);
  return (
    <>
      {only !== undefined || description === undefined ? null : (
        <p>
          <Line text={description} />
        </p>
      )}
      <Inside schema={schema} reference={reference} />
    </>
  );
}
