/** What operators' records are about, by name: calls tell the ids of clients, providers, bundles and payments under review. */

import type { ComponentChildren } from "preact";
import type { OperatorAct, Operators } from "railgate/client";
import { text } from "../../shared/text";
import { directory } from "../directory";
import { ProviderName } from "../names";
import { href } from "../router";
import { Person } from "./people";

/** More clients than these are looked up one by one. */
const MOST = 200;

const clients = directory<Operators.Client>(
  ({ client_id }) => client_id,
  async (call) => (await call.call("GET", "/operator/clients", { query: { limit: MOST } })).data,
  (call, id) => call.call("GET", "/operator/clients/{id}", { params: { id } }),
);

const bundles = directory<{ readonly id: string; readonly name: string }>(
  ({ id }) => id,
  () => Promise.resolve([]),
  async (call, id) => {
    const { manifest, release } = await call.call("GET", "/operator/bundles/{id}", { params: { id } });
    return { id, name: text.operator.bundles.title(manifest.name, release) };
  },
);

const reviewed = directory<{ readonly id: string; readonly reference: string }>(
  ({ id }) => id,
  () => Promise.resolve([]),
  async (call, id) => {
    const { settlement } = await call.call("GET", "/operator/reviews/{id}", { params: { id } });
    return { id, reference: settlement.reference };
  },
);

/** A client by name, which the client chose; its id is in the title. */
export function ClientName({ id }: { id: string }) {
  const name = clients.useOne(id)?.name;
  return <span title={id}>{name === undefined || name === "" ? id : name}</span>;
}

/** The same, and a way to its page. */
export const ClientLink = ({ id }: { id: string }) => (
  <a href={href(`/clients/${id}`)}>
    <ClientName id={id} />
  </a>
);

export const ProviderLink = ({ id }: { id: string }) => (
  <a href={href(`/providers/${id}`)}>
    <ProviderName id={id} />
  </a>
);

const BundleName = ({ id }: { id: string }) => <span title={id}>{bundles.useOne(id)?.name ?? id}</span>;
const ReviewName = ({ id }: { id: string }) => <span title={id}>{reviewed.useOne(id)?.reference ?? id}</span>;

interface Place {
  /** Where one reads about it. */
  readonly at: (id: string) => string;
  readonly Name: (props: { id: string }) => ComponentChildren;
}

const CLIENT: Place = { at: (id) => `/clients/${id}`, Name: ClientName };
const PROVIDER: Place = { at: (id) => `/providers/${id}`, Name: ProviderName };
const BUNDLE: Place = { at: (id) => `/bundles/${id}`, Name: BundleName };
const REVIEW: Place = { at: (id) => `/reviews/${id}`, Name: ReviewName };
/** There is one table, which has no name. */
const ROUTES: Place = { at: () => "/routes", Name: () => text.operator.nav.routes };

const PLACES: Record<OperatorAct, Place> = {
  approve_client: CLIENT,
  suspend_client: CLIENT,
  resume_client: CLIENT,
  set_limits: CLIENT,
  set_fees: CLIENT,
  set_floor: CLIENT,
  set_session_signatures: CLIENT,
  deposit: CLIENT,
  withdraw: CLIENT,
  put_provider: PROVIDER,
  enable_provider: PROVIDER,
  disable_provider: PROVIDER,
  maintain_provider: PROVIDER,
  put_routes: ROUTES,
  resolve_review: REVIEW,
  publish_bundle: BUNDLE,
  revoke_bundle: BUNDLE,
};

type Asked = Pick<Operators.Approval, "act" | "subject">;

/** What a request is about, by name. */
export function Subject({ act, subject }: Asked) {
  const { Name } = PLACES[act];
  return <Name id={subject} />;
}

/** The same with its id, for whoever decides: two clients may have chosen the same name. */
export const SubjectWithId = (asked: Asked) => (
  <>
    <Subject {...asked} />
    {asked.subject === "" ? null : <small> {asked.subject}</small>}
  </>
);

export const subjectHref = ({ act, subject }: Asked): string => href(PLACES[act].at(subject));

/** What an id of any kind stands for, as far as its prefix tells. */
export function Named({ id }: { id: string }) {
  if (id.startsWith("cli_")) return <ClientName id={id} />;
  if (id.startsWith("opr_")) return <Person id={id} />;
  if (id.startsWith("bun_")) return <BundleName id={id} />;
  return <>{id}</>;
}
