/** The operators of this gateway: their names, and what the one who is signed in may do. */

import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type OperatorRole, type Operators, RailgateError } from "railgate/client";
import { text } from "../../shared/text";
import { api, session } from "../session";

const people = signal<ReadonlyMap<string, Operators.Operator>>(new Map());
/** Whose list it is: another identity of this browser may be at another role. */
let readFor: unknown;
const unknown = new Set<string>();

/** Reads the list again, as after a change. */
export async function readPeople(): Promise<void> {
  const reader = api.value;
  readFor = reader;
  try {
    const { data } = await reader.call("GET", "/operator/operators");
    people.value = new Map(data.map((one) => [one.id, one]));
  } catch (error) {
    // Without names there are ids, and the role that the invitation had; the gateway decides in any case.
    if (!(error instanceof RailgateError)) throw error;
  }
}

/** Has the names ready while a component is shown. */
function usePeople(): ReadonlyMap<string, Operators.Operator> {
  const reader = session.value?.api;
  useEffect(() => {
    if (reader !== undefined && reader !== readFor) void readPeople();
  }, [reader]);
  return people.value;
}

/** Each role may do what those before it may. */
export const ROLES: readonly OperatorRole[] = ["viewer", "agent", "approver", "admin"];

/** The role now: an administrator may have changed it since this browser enrolled. */
const role = computed<OperatorRole>(() => {
  const identity = session.value?.identity;
  return people.value.get(identity?.id ?? "")?.role ?? identity?.role ?? "viewer";
});

/** Whether the operator who is signed in has this role, or one that may do more. */
export function useMay(needed: OperatorRole): boolean {
  usePeople();
  return ROLES.indexOf(role.value) >= ROLES.indexOf(needed);
}

/** Whether this is the operator who is signed in. */
export const isMe = (id: string | null | undefined): boolean => id === session.value?.identity.id;

/** Who did something: an operator by name, or the store's own command line. */
export function Person({ id }: { id: string | null | undefined }) {
  const names = usePeople();
  const name = id === null || id === undefined ? undefined : names.get(id)?.name;
  useEffect(() => {
    // Somebody who was invited after the list was read.
    if (id === null || id === undefined || names.size === 0 || name !== undefined || unknown.has(id)) return;
    unknown.add(id);
    void readPeople();
  }, [id, names]);
  if (id === null || id === undefined) return <>{text.operator.onStore}</>;
  return (
    <span title={id}>
      {name ?? id}
      {isMe(id) ? ` (${text.operator.you})` : ""}
    </span>
  );
}
