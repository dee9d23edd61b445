/** The operators of this gateway: their names, and what the one who is signed in may do. */

import { computed } from "@preact/signals";
import type { OperatorRole, Operators } from "railgate/client";
import { text } from "../../shared/text";
import { directory } from "../directory";
import { session } from "../session";

const people = directory<Operators.Operator>(
  ({ id }) => id,
  async (call) => (await call.call("GET", "/operator/operators")).data,
);

export const readPeople = people.read;

/** Each role may do what those before it may. */
export const ROLES: readonly OperatorRole[] = ["viewer", "agent", "approver", "admin"];

/** The role now: an administrator may have changed it since this browser enrolled. Without the list, the role that the invitation had. */
const role = computed<OperatorRole>(() => {
  const identity = session.value?.identity;
  return people.known.value.get(identity?.id ?? "")?.role ?? identity?.role ?? "viewer";
});

/** Whether the operator who is signed in has this role, or one that may do more; the gateway decides in any case. */
export function useMay(needed: OperatorRole): boolean {
  people.useAll();
  return ROLES.indexOf(role.value) >= ROLES.indexOf(needed);
}

/** Whether this is the operator who is signed in. */
export const isMe = (id: string | null | undefined): boolean => id === session.value?.identity.id;

/** Who did something: an operator by name, or the store's own command line. */
export function Person({ id }: { id: string | null | undefined }) {
  const name = people.useOne(id)?.name;
  if (id === null || id === undefined) return <>{text.operator.onStore}</>;
  return (
    <span title={id}>
      {name ?? id}
      {isMe(id) ? ` (${text.operator.you})` : ""}
    </span>
  );
}
