/** The audit trail: who did what, or tried to. */

import type { Operators } from "railgate/client";
import { worded } from "../../shared/format";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Empty, Shown } from "../../shared/ui/feedback";
import { TextField } from "../../shared/ui/field";
import { Page } from "../../shared/ui/page";
import { type Column, Table } from "../../shared/ui/table";
import { Badge, Time } from "../../shared/ui/values";
import { useSignal } from "@preact/signals";
import { useData } from "../data";
import { pageQuery, usePages } from "../paging";
import { query, refine } from "../router";
import { api } from "../session";
import { WATCHED } from "./act";
import { Person } from "./people";
import { Places, leavesOf } from "./places";
import { ClientLink, Named } from "./subjects";

type Audit = Operators.Audit;

const words = text.operator.audit;

/** Who acted: an operator, a client, or whoever has the store. */
function Actor({ row }: { row: Audit }) {
  if (row.by === "client" && row.client_id) return <ClientLink id={row.client_id} />;
  return <Person id={row.operator_id} />;
}

/** What was acted on. */
const About = ({ id }: { id: string | null | undefined }) => (id === null || id === undefined ? <>–</> : <Named id={id} />);

/** What was decided and why, in full once it is asked for. */
function Detail({ row }: { row: Audit }) {
  const leaves = row.detail === undefined ? [] : leavesOf(row.detail);
  if (leaves.length === 0) return <>–</>;
  return (
    <details>
      <summary>{words.details(leaves.length)}</summary>
      <Places of={leaves} />
    </details>
  );
}

const COLUMNS: readonly Column<Audit>[] = [
  { name: words.columns.at, cell: ({ at }) => <Time at={at} /> },
  { name: words.columns.who, cell: (row) => <Actor row={row} /> },
  { name: words.columns.action, cell: ({ action }) => <span title={action}>{worded(action)}</span> },
  { name: words.columns.target, cell: ({ target, client_id }) => <About id={target ?? client_id} /> },
  {
    name: words.columns.outcome,
    cell: ({ outcome }) => <Badge tone={outcome === "done" ? "good" : "bad"}>{outcome === "done" ? words.done : outcome}</Badge>,
  },
  { name: words.columns.detail, cell: (row) => <Detail row={row} /> },
];

export default function AuditTrail() {
  const client = query.value.get("client") ?? "";
  const here = pageQuery();
  const data = useData(
    (signal) =>
      api.value.call("GET", "/operator/audit", {
        query: { ...(client === "" ? {} : { client }), ...here },
        signal,
      }),
    ["audit", client, here],
    WATCHED,
  );
  const pages = usePages(data.value?.next_cursor, client);
  return (
    <Page title={text.operator.nav.audit}>
      <p class="note">{words.intro}</p>
      <Filter key={client} client={client} />
      <Shown data={data}>
        {(page) =>
          page.data.length === 0 && !page.has_more ? (
            <Empty title={client === "" ? text.nothing : text.nothingFiltered} />
          ) : (
            <div class="section flush">
              <Table caption={text.operator.nav.audit} columns={COLUMNS} rows={page.data} id={({ no }) => String(no)} pages={pages} />
            </div>
          )
        }
      </Shown>
    </Page>
  );
}

function Filter({ client }: { client: string }) {
  const typed = useSignal(client);
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault();
        refine({ client: typed.value.trim() });
      }}
    >
      <TextField label={words.client} optional placeholder="cli_…" value={typed.value} onValue={(value) => (typed.value = value)} />
      <Button type="submit">{words.show}</Button>
    </form>
  );
}
