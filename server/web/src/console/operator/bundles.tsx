/** Bundles of partners: descriptions of providers that ask for a review. */

import type { BundleStatus, Operators } from "railgate/client";
import { text } from "../../shared/text";
import { Empty, Shown } from "../../shared/ui/feedback";
import { Page } from "../../shared/ui/page";
import { type Column, Table } from "../../shared/ui/table";
import { Time } from "../../shared/ui/values";
import { useData } from "../data";
import { pageQuery, usePages } from "../paging";
import { href } from "../router";
import { api } from "../session";
import { WATCHED } from "./act";
import { BundleBadge, BundleModeBadge, ConformanceBadge } from "./badges";
import { ClientName } from "./subjects";
import { StatusTabs, chosen } from "./tabs";

const words = text.operator.bundles;

const STATUSES = Object.keys(text.operator.states.bundle) as BundleStatus[];

const COLUMNS: readonly Column<Operators.BundleSummary>[] = [
  { name: words.columns.bundle, cell: ({ provider, release }) => `${provider} ${release}` },
  {
    name: words.columns.status,
    cell: (bundle) => (
      <span class="badges">
        <BundleBadge status={bundle.status} />
        {bundle.conformance ? <ConformanceBadge status={bundle.conformance} /> : null}
        <BundleModeBadge bundle={bundle} />
      </span>
    ),
  },
  { name: words.columns.revision, number: true, cell: ({ revision }) => revision },
  { name: words.columns.partner, cell: ({ client_id }) => <ClientName id={client_id} /> },
  { name: words.columns.changed, cell: ({ updated_at }) => <Time at={updated_at} /> },
];

export default function Bundles() {
  const status = chosen(STATUSES, "all");
  const here = pageQuery();
  const data = useData(
    (signal) =>
      api.value.call("GET", "/operator/bundles", {
        query: { ...(status === "all" ? {} : { status }), ...here },
        signal,
      }),
    ["bundles", status, here],
    WATCHED,
  );
  const pages = usePages(data.value?.next_cursor, status);
  return (
    <Page title={text.operator.nav.bundles}>
      <p class="note">{words.intro}</p>
      <StatusTabs statuses={STATUSES} here={status} names={text.operator.states.bundle} label={words.columns.status} initial="all" />
      <Shown data={data}>
        {(page) =>
          page.data.length === 0 && !page.has_more ? (
            <Empty title={status === "all" ? words.none : text.nothingFiltered} />
          ) : (
            <div class="section flush">
              <Table
                caption={text.operator.nav.bundles}
                columns={COLUMNS}
                rows={page.data}
                id={({ id }) => id}
                to={({ id }) => href(`/bundles/${id}`)}
                pages={pages}
              />
            </div>
          )
        }
      </Shown>
    </Page>
  );
}
