/** All clients, oldest first, or those that ask for live access. */

import type { Operators } from "railgate/client";
import { text } from "../../shared/text";
import { Empty, Shown } from "../../shared/ui/feedback";
import { CheckField } from "../../shared/ui/field";
import { Page } from "../../shared/ui/page";
import { type Column, Table } from "../../shared/ui/table";
import { Badge, Time } from "../../shared/ui/values";
import { useData } from "../data";
import { pageQuery, usePages } from "../paging";
import { href, query, refine } from "../router";
import { api } from "../session";
import { WATCHED } from "./act";

const words = text.operator.clients;

/** How far a client is. */
export function ClientBadges({ client }: { client: Operators.Client }) {
  return (
    <span class="badges">
      {client.suspended ? <Badge tone="bad">{words.suspended}</Badge> : null}
      {client.pending_keys > 0 ? <Badge tone="wait">{words.pending}</Badge> : null}
      {client.live_keys > 0 ? <Badge tone="accent">{text.live}</Badge> : <Badge>{words.sandboxOnly}</Badge>}
    </span>
  );
}

const COLUMNS: readonly Column<Operators.Client>[] = [
  { name: words.columns.name, cell: ({ name, client_id }) => (name === "" ? client_id : name) },
  { name: words.columns.status, cell: (client) => <ClientBadges client={client} /> },
  { name: words.columns.live, number: true, cell: ({ live_keys }) => live_keys },
  { name: words.columns.sandbox, number: true, cell: ({ sandbox_keys }) => sandbox_keys },
  { name: words.columns.since, cell: ({ created_at }) => <Time at={created_at} /> },
];

export default function Clients() {
  const pending = query.value.get("pending") === "true";
  const here = pageQuery();
  const data = useData(
    (signal) =>
      api.value.call("GET", "/operator/clients", {
        query: { ...(pending ? { pending } : {}), ...here },
        signal,
      }),
    ["clients", pending, here],
    WATCHED,
  );
  const pages = usePages(data.value?.next_cursor, String(pending));
  return (
    <Page title={text.operator.nav.clients}>
      <CheckField label={words.onlyPending} checked={pending} onValue={(checked) => refine({ pending: checked ? "true" : "" })} />
      <Shown data={data}>
        {(page) =>
          page.data.length === 0 && !page.has_more ? (
            <Empty title={pending ? words.nonePending : words.none} />
          ) : (
            <div class="section flush">
              <Table
                caption={text.operator.nav.clients}
                columns={COLUMNS}
                rows={page.data}
                id={({ client_id }) => client_id}
                to={({ client_id }) => href(`/clients/${client_id}`)}
                pages={pages}
              />
            </div>
          )
        }
      </Shown>
    </Page>
  );
}
