/** The statement of one currency: each posting with the balance after it. */

import { type RailgateClient, type StatementEntry } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Figure } from "../../shared/ui/chart";
import { Empty, Problem, Shown } from "../../shared/ui/feedback";
import { TextField } from "../../shared/ui/field";
import { Page } from "../../shared/ui/page";
import { Table } from "../../shared/ui/table";
import { Money, Time } from "../../shared/ui/values";
import { money, worded } from "../../shared/format";
import { useAct, useData } from "../data";
import { pageSize, usePages } from "../paging";
import { href, query, refine } from "../router";
import { save } from "../save";
import { api } from "../session";
import type { ViewProps } from "../views";

const words = text.balances;

const STATEMENT = "/balances/{currency}/entries";

/** The days of the address, as times of the reader's zone. */
function between(): { from?: Date; to?: Date } {
  const read = (name: string) => query.value.get(name) ?? "";
  const time = (name: "from" | "to") => (read(name) === "" ? {} : { [name]: new Date(`${read(name)}T00:00`) });
  return { ...time("from"), ...time("to") };
}

const csv = (client: RailgateClient, currency: string): Promise<string> =>
  client.call("GET", STATEMENT, { params: { currency }, query: between(), accept: "text/csv" });

export default function Statement({ params }: ViewProps) {
  const currency = params["currency"] ?? "";
  const client = api.value;
  const cursor = query.value.get("cursor") ?? "";
  const period = between();
  const key = JSON.stringify([currency, period]);
  const balance = useData((signal) => client.balance(currency, { signal }), [currency]);
  const entries = useData(
    (signal) => client.statement(currency, { ...period, limit: pageSize(), ...(cursor === "" ? {} : { cursor }) }, { signal }),
    [key, cursor],
  );
  const pages = usePages(entries.value?.next_cursor, key);
  const exporting = useAct(async () => save(`statement-${currency}.csv`, await csv(client, currency), "text/csv"));
  return (
    <Page
      title={words.statement(currency)}
      actions={
        <Button icon="out" busy={exporting.busy} onClick={() => void exporting.run()}>
          {words.export}
        </Button>
      }
    >
      <Shown data={balance}>
        {(value) => (
          <dl class="figures">
            {(["available", "reserved", "pending", "ledger"] as const).map((name) => (
              <Figure key={name} name={words.columns[name]} value={money(value[name], currency)} />
            ))}
          </dl>
        )}
      </Shown>
      <div class="tools">
        {(["from", "to"] as const).map((name) => (
          <TextField
            key={name}
            label={words[name]}
            optional
            type="date"
            value={query.value.get(name) ?? ""}
            onValue={(value) => refine({ [name]: value }, { replace: true })}
          />
        ))}
      </div>
      {exporting.problem === undefined ? null : <Problem problem={exporting.problem} reads />}
      <Shown data={entries}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={words.empty}>
              <p>{words.emptyText}</p>
            </Empty>
          ) : (
            <div class="section flush">
              <Table caption={words.statement(currency)} rows={data} id={({ number }) => String(number)} columns={COLUMNS} pages={pages} />
            </div>
          )
        }
      </Shown>
    </Page>
  );
}

const COLUMNS = [
  { name: words.entries.at, cell: ({ at }: StatementEntry) => <Time at={at} full /> },
  { name: words.entries.type, cell: ({ type }: StatementEntry) => worded(type) },
  {
    name: words.entries.reference,
    cell: ({ reference, settlement_id }: StatementEntry) =>
      settlement_id === null ? (reference ?? "") : <a href={href(`/settlements/${settlement_id}`)}>{reference ?? settlement_id}</a>,
  },
  { name: words.entries.description, cell: ({ description }: StatementEntry) => description ?? "" },
  { name: words.entries.amount, number: true, cell: (one: StatementEntry) => <Money amount={one.amount} currency={one.currency} /> },
  { name: words.entries.balance, number: true, cell: (one: StatementEntry) => <Money amount={one.balance} currency={one.currency} /> },
];
