/** What operators asked for, and what became of it. */

import type { ApprovalStatus, Operators } from "railgate/client";
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
import { ApprovalBadge } from "./badges";
import { Person } from "./people";
import { Subject } from "./subjects";
import { StatusTabs, chosen } from "./tabs";

const words = text.operator.approvals;

const STATUSES: readonly ApprovalStatus[] = ["pending", "confirmed", "declined", "expired"];

const COLUMNS: readonly Column<Operators.Approval>[] = [
  { name: words.columns.act, cell: ({ act }) => text.operator.acts[act] },
  { name: words.columns.subject, cell: (one) => <Subject {...one} /> },
  { name: words.columns.status, cell: ({ status }) => <ApprovalBadge status={status} /> },
  { name: words.columns.by, cell: ({ asked_by }) => <Person id={asked_by} /> },
  { name: words.columns.why, cell: ({ reason }) => reason ?? "–" },
  { name: words.columns.at, cell: ({ asked_at }) => <Time at={asked_at} /> },
];

export default function Approvals() {
  const status = chosen(STATUSES, "pending");
  const here = pageQuery();
  const data = useData(
    (signal) =>
      api.value.call("GET", "/operator/approvals", {
        query: { ...(status === "all" ? {} : { status }), ...here },
        signal,
      }),
    ["approvals", status, here],
    WATCHED,
  );
  const pages = usePages(data.value?.next_cursor, status);
  return (
    <Page title={text.operator.nav.approvals}>
      <p class="note">{words.intro}</p>
      <StatusTabs statuses={STATUSES} here={status} names={text.operator.states.approval} label={words.columns.status} initial="pending" />
      <Shown data={data}>
        {(page) =>
          page.data.length === 0 && !page.has_more ? (
            <Empty title={status === "pending" ? words.none : text.nothingFiltered} />
          ) : (
            <div class="section flush">
              <Table
                caption={text.operator.nav.approvals}
                columns={COLUMNS}
                rows={page.data}
                id={({ id }) => id}
                to={({ id }) => href(`/approvals/${id}`)}
                pages={pages}
              />
            </div>
          )
        }
      </Shown>
    </Page>
  );
}
