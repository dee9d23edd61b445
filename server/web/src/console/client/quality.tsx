/** What apps measured: one metric over a period, by up to one group. */

import { useSignal } from "@preact/signals";
import type { Operators } from "railgate/client";
import { count, percent } from "../../shared/format";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Bars } from "../../shared/ui/chart";
import { Empty, Shown } from "../../shared/ui/feedback";
import { SelectField, TextField } from "../../shared/ui/field";
import { Page, Section } from "../../shared/ui/page";
import { Table } from "../../shared/ui/table";
import { useData } from "../data";
import { query, refine } from "../router";
import { api } from "../session";

const words = text.quality;

const DEFAULT = "payment.confirmed";
const DAYS = ["1", "7", "30", "90"] as const;
const GROUPS = ["none", "day", "hour", "app_version", "os", "network", "provider"] as const;
type Group = (typeof GROUPS)[number];
const DAY_MS = 86_400_000;
const EVERY_MS = 60_000;

const oneOf = <T extends string>(values: readonly T[], given: string | null, otherwise: T): T =>
  values.find((value) => value === given) ?? otherwise;

export default function Quality() {
  const metric = query.value.get("metric") ?? DEFAULT;
  const days = oneOf(DAYS, query.value.get("days"), "7");
  const by = oneOf(GROUPS, query.value.get("by"), "none");
  const read = (signal: AbortSignal) => {
    const from = new Date(Date.now() - Number(days) * DAY_MS);
    return api.value.call("GET", "/mobile/quality/summary", { query: { metric, from, ...(by === "none" ? {} : { by }) }, signal });
  };
  const data = useData(read, [metric, days, by], { on: false, everyMs: EVERY_MS });
  return (
    <Page title={words.title}>
      <p class="note">{words.intro}</p>
      <Question metric={metric} days={days} by={by} />
      <Shown data={data}>{(summary) => <Summary summary={summary} by={by} />}</Shown>
    </Page>
  );
}

function Question({ metric, days, by }: { metric: string; days: (typeof DAYS)[number]; by: Group }) {
  const typed = useSignal(metric);
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault();
        refine({ metric: typed.value.trim() });
      }}
    >
      <TextField label={words.metric} placeholder="payment.confirmed" value={typed.value} onValue={(value) => (typed.value = value)} />
      <SelectField
        label={words.days}
        value={days}
        choices={DAYS.map((value) => ({ value, label: value }))}
        onValue={(value) => refine({ days: value }, { replace: true })}
      />
      <SelectField
        label={words.by}
        value={by}
        choices={GROUPS.map((value) => ({ value, label: words.groups[value] }))}
        onValue={(value) => refine({ by: value }, { replace: true })}
      />
      <Button type="submit">{words.show}</Button>
    </form>
  );
}

const nameOf = (group: Operators.QualityGroup, by: Group): string =>
  group.other === true ? words.other : by === "none" ? words.groups.none : (group[by] ?? words.other);

function Summary({ summary, by }: { summary: Operators.QualitySummary; by: Group }) {
  const { groups, withheld, complete } = summary;
  if (groups.length === 0 && withheld === 0) {
    return (
      <Empty title={words.empty}>
        <p>{words.emptyText}</p>
      </Empty>
    );
  }
  const rows = groups.map((group) => ({ name: `${nameOf(group, by)} (${group.unit})`, group }));
  const figure = (value: string, { unit }: Operators.QualityGroup): string => `${value} ${unit}`;
  return (
    <>
      {complete ? null : <p class="note">{words.partial}</p>}
      {withheld === 0 ? null : <p class="note">{words.withheld(withheld)}</p>}
      {rows.length < 2 ? null : (
        <Section title={words.chart}>
          <Bars
            title={words.chart}
            series={[{ name: words.columns.p95, tone: "accent" }]}
            // For the eye alone: the table has the exact figures.
            bars={rows.map(({ name, group }) => ({ label: name, values: [Number(group.p95)] }))}
          />
        </Section>
      )}
      <div class="section flush">
        <Table
          caption={summary.metric}
          rows={rows}
          id={({ name }) => name}
          columns={[
            { name: words.columns.group, cell: ({ name }) => name },
            { name: words.columns.count, number: true, cell: ({ group }) => count(group.count) },
            ...(["mean", "p50", "p95", "p99"] as const).map((name) => ({
              name: words.columns[name],
              number: true,
              cell: ({ group }: (typeof rows)[number]) => figure(group[name], group),
            })),
            { name: words.columns.failures, number: true, cell: ({ group }) => percent(group.failure_rate) },
          ]}
        />
      </div>
    </>
  );
}
