/** A list of settlements with search, filters, saved views and pages. Clients have it, and so can operators with their own source. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { ListFilter, Page as Listed, Settlement } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Empty, Problem, Shown, say } from "../../shared/ui/feedback";
import { Page } from "../../shared/ui/page";
import { SettlementBadge } from "../../shared/ui/states";
import { type Column, Table } from "../../shared/ui/table";
import { Badge, Money, Time } from "../../shared/ui/values";
import { type DataOptions, useAct, useData } from "../data";
import { ProviderName } from "../names";
import { pageSize, usePages } from "../paging";
import { go, href, query, refine } from "../router";
import { save } from "../save";
import { FilterForm } from "./filter-form";
import { NO_FILTERS, countOf, filterOf, searchOf } from "./filters";
import { SavedViews } from "./saved";

const words = text.settlements;

export type Filter = ListFilter & { client?: string };

interface SettlementListProps {
  /** A page of settlements that these filters select. */
  readonly read: (filter: Filter, signal: AbortSignal) => PromiseLike<Listed<Settlement>>;
  /** The same settlements as CSV. */
  readonly csv: (filter: Filter) => Promise<string>;
  readonly currencies: readonly string[];
  readonly providers: readonly { readonly id: string; readonly name: string }[];
  /** What can be done besides. */
  readonly actions?: ComponentChildren;
  /** Further columns. */
  readonly columns?: readonly Column<Settlement>[];
  readonly live?: DataOptions;
  /** Shown when there is nothing at all. */
  readonly empty?: ComponentChildren;
}

const COLUMNS: readonly Column<Settlement>[] = [
  { name: words.columns.reference, cell: ({ reference }) => <span class="reference">{reference}</span> },
  { name: words.columns.amount, number: true, cell: ({ amount, currency }) => <Money amount={amount} currency={currency} /> },
  { name: words.columns.to, cell: ({ to }) => to },
  {
    name: words.columns.status,
    cell: ({ status, needs_review }) => (
      <span class="badges">
        <SettlementBadge status={status} />
        {needs_review ? <Badge tone="wait">{words.review}</Badge> : null}
      </span>
    ),
  },
  { name: words.columns.provider, cell: ({ provider }) => <ProviderName id={provider} /> },
  { name: words.columns.created, cell: ({ created_at }) => <Time at={created_at} /> },
];

/** The address of a settlement's page. References may contain nothing that a path would change. */
export const settlementHref = ({ id }: { id: string }): string => href(`/settlements/${id}`);

export function SettlementList({ read, csv, currencies, providers, actions, columns = [], live = {}, empty }: SettlementListProps) {
  const filtering = useSignal(false);
  const filter = filterOf(query.value);
  const key = JSON.stringify(filter);
  const cursor = query.value.get("cursor");
  const limit = pageSize();
  const data = useData(
    (signal) => read({ ...filter, limit, ...(cursor === null || cursor === "" ? {} : { cursor }) }, signal),
    [key, cursor, limit],
    live,
  );
  const pages = usePages(data.value?.next_cursor, `${limit} ${key}`);
  const exporting = useAct(async () => {
    const table = await csv(filter);
    save("settlements.csv", table, "text/csv");
    say(words.exported(Math.max(table.trimEnd().split("\n").length - 1, 0)));
  });
  const filters = countOf(query.value);
  return (
    <Page
      title={words.title}
      actions={
        <>
          <Button icon="out" busy={exporting.busy} onClick={() => void exporting.run()}>
            {words.export}
          </Button>
          {actions}
        </>
      }
    >
      <div class="tools">
        <Search />
        <Button icon="list" aria-expanded={filtering.value} onClick={() => (filtering.value = !filtering.value)}>
          {filters === 0 ? words.filters : words.active(filters)}
        </Button>
        <SavedViews />
      </div>
      {filtering.value ? (
        <FilterForm key={key} currencies={currencies} providers={providers} onDone={() => (filtering.value = false)} />
      ) : null}
      {exporting.problem === undefined ? null : <Problem problem={exporting.problem} reads />}
      <Shown data={data}>
        {(page) =>
          page.data.length > 0 || page.has_more ? (
            <div class="section flush">
              <Table
                caption={words.caption}
                columns={[...COLUMNS, ...columns]}
                rows={page.data}
                id={({ id }) => id}
                to={settlementHref}
                pages={pages}
              />
            </div>
          ) : filters > 0 ? (
            <Empty title={text.nothingFiltered}>
              <Button onClick={() => refine(NO_FILTERS)}>{text.clearFilters}</Button>
            </Empty>
          ) : (
            (empty ?? <Empty title={words.empty} />)
          )
        }
      </Shown>
    </Page>
  );
}

function Search() {
  const given = query.value.get("reference") ?? query.value.get("to") ?? "";
  const typed = useSignal(given);
  return (
    <form
      role="search"
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = searchOf(typed.value);
        if ("id" in wanted) go(settlementHref({ id: wanted.id }));
        else refine(wanted);
      }}
    >
      <input
        class="input"
        type="search"
        aria-label={words.search}
        title={words.searchHint}
        placeholder={words.search}
        value={typed.value}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
    </form>
  );
}
