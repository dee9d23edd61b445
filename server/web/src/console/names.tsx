/** Names of providers, for both sides of the console: lists and events tell their ids. */

import { type Directory, directory } from "./directory";
import { session } from "./session";

interface Named {
  readonly id: string;
  readonly name: string;
}

const providers: Directory<Named> = directory<Named>(
  ({ id }) => id,
  async (call) => (session.value?.identity.kind === "operator" ? (await call.call("GET", "/operator/providers")).data : call.providers()),
);

/** A provider by name; its id is in the title. */
export function ProviderName({ id }: { id: string }) {
  const name = providers.useOne(id)?.name;
  return <span title={id}>{name === undefined || name === "" ? id : name}</span>;
}
