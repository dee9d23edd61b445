/** What waits for a person, the longest first. */

import type { Operators } from "railgate/client";
import { money } from "../../shared/format";
import { text } from "../../shared/text";
import { Empty, Shown } from "../../shared/ui/feedback";
import { CheckField } from "../../shared/ui/field";
import { Page } from "../../shared/ui/page";
import { type Column, Table } from "../../shared/ui/table";
import { Time } from "../../shared/ui/values";
import { useData } from "../data";
import { ProviderName } from "../names";
import { pageQuery, usePages } from "../paging";
import { href, query, refine } from "../router";
import { api } from "../session";
import { WATCHED } from "./act";
import { ModeBadge, StateBadge } from "./badges";
import { ClientName } from "./subjects";

const words = text.operator.reviews;

const COLUMNS: readonly Column<Operators.Review>[] = [
  {
    name: words.columns.reference,
    cell: ({ reference, reversal }) => (reversal === null || reversal === undefined ? reference : words.reversalOf(reversal, reference)),
  },
  { name: words.columns.amount, number: true, cell: ({ amount, currency }) => money(amount, currency) },
  { name: words.columns.why, cell: ({ reason }) => words.reasons[reason] },
  {
    name: words.columns.status,
    cell: ({ status, sandbox }) => (
      <span class="badges">
        <StateBadge status={status} />
        <ModeBadge sandbox={sandbox} />
      </span>
    ),
  },
  { name: words.columns.client, cell: ({ client_id }) => <ClientName id={client_id} /> },
  { name: words.columns.provider, cell: ({ provider }) => <ProviderName id={provider} /> },
  { name: words.columns.since, cell: ({ opened_at }) => <Time at={opened_at} /> },
];

export default function Reviews() {
  const all = query.value.get("all") === "true";
  const here = pageQuery();
  const data = useData(
    (signal) => api.value.call("GET", "/operator/reviews", { query: { all, ...here }, signal }),
    ["reviews", all, here],
    WATCHED,
  );
  const pages = usePages(data.value?.next_cursor, String(all));
  return (
    <Page title={text.operator.nav.reviews}>
      <p class="note">{words.intro}</p>
      <CheckField label={words.all} checked={all} onValue={(checked) => refine({ all: checked ? "true" : "" })} />
      <Shown data={data}>
        {(page) =>
          page.data.length === 0 && !page.has_more ? (
            <Empty title={words.none}>
              <p>{words.noneText}</p>
            </Empty>
          ) : (
            <div class="section flush">
              <Table
                caption={text.operator.nav.reviews}
                columns={COLUMNS}
                rows={page.data}
                id={({ id }) => id}
                to={({ id }) => href(`/reviews/${id}`)}
                pages={pages}
              />
            </div>
          )
        }
      </Shown>
    </Page>
  );
}
