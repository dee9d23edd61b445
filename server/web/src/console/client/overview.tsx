/** How payments are doing: figures of a period, drawn and by currency and provider. */

import type { Provider, Settlement } from "railgate/client";
import { count, day, duration, hour, money, percent } from "../../shared/format";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { type Bar, Bars, Figure } from "../../shared/ui/chart";
import { Empty, Shown } from "../../shared/ui/feedback";
import { Page, Section } from "../../shared/ui/page";
import { HealthBadge } from "../../shared/ui/states";
import { Table } from "../../shared/ui/table";
import { useData } from "../data";
import { href, query, refine } from "../router";
import { api } from "../session";
import { type Figures, figuresOf, groups, outcome, valueOf } from "./figures";

const words = text.overview;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A period, and what one bar of it stands for. */
const PERIODS = {
  day: { ms: DAY_MS, bar: HOUR_MS },
  week: { ms: 7 * DAY_MS, bar: DAY_MS },
  month: { ms: 30 * DAY_MS, bar: DAY_MS },
} as const;
type Period = keyof typeof PERIODS;
const NAMES = Object.keys(PERIODS) as readonly Period[];

/** The most settlements that are read for the figures. */
const MOST = 5_000;
/** Many events in a row are one new reading. */
const GATHER_MS = 2_000;

export default function Overview() {
  const client = api.value;
  const asked = query.value.get("period");
  const period = NAMES.find((name) => name === asked) ?? "day";
  const read = async (signal: AbortSignal) => {
    // Whole bars, so that the first is not cut.
    const { ms, bar } = PERIODS[period];
    const until = Math.ceil(Date.now() / bar) * bar;
    const settlements: Settlement[] = [];
    const filter = { created_from: new Date(until - ms), direction: "outgoing" } as const;
    for await (const one of client.export(filter, { signal })) if (settlements.push(one) >= MOST) break;
    return { settlements, until, providers: await client.providers({ signal }) };
  };
  const data = useData(read, [period], { gatherMs: GATHER_MS });
  return (
    <Page
      title={text.client.nav.overview}
      actions={
        <div class="switch" role="group" aria-label={words.period}>
          {NAMES.map((name) => (
            <Button key={name} aria-pressed={name === period} onClick={() => refine({ period: name }, { replace: true })}>
              {words.periods[name]}
            </Button>
          ))}
        </div>
      }
    >
      <Shown data={data}>
        {({ settlements, until, providers }) =>
          settlements.length === 0 ? <Nothing /> : <Summary settlements={settlements} providers={providers} period={period} until={until} />
        }
      </Shown>
    </Page>
  );
}

function Nothing() {
  return (
    <Empty title={words.empty}>
      <p>{words.emptyText}</p>
      <a class="button primary" href={href("/settlements/new")}>
        {text.settlements.new}
      </a>
    </Empty>
  );
}

const share = (value: number | undefined): string => (value === undefined ? "–" : percent(value));
const took = (ms: number | undefined): string => (ms === undefined ? "–" : duration(ms));

interface SummaryProps {
  readonly settlements: readonly Settlement[];
  readonly providers: readonly Provider[];
  readonly period: Period;
  readonly until: number;
}

function Summary({ settlements, providers, period, until }: SummaryProps) {
  const all = figuresOf(settlements);
  const currencies = groups(settlements, ({ currency }) => currency);
  const reviews = settlements.filter(({ needs_review }) => needs_review).length;
  return (
    <>
      {settlements.length < MOST ? null : <p class="note">{words.capped(count(MOST))}</p>}
      <dl class="figures">
        <Figure
          name={words.volume}
          value={count(all.count)}
          note={words.open(count(settlements.filter((one) => outcome(one) === "open").length))}
        />
        <Figure
          name={words.value}
          value={currencies
            .slice(0, 2)
            .map(([currency, group]) => money(valueOf(group), currency))
            .join(" · ")}
        />
        <Figure name={words.success} value={share(all.success)} note={words.failed(count(all.failed))} />
        <Figure name={words.half} value={took(all.p50)} note={words.most(took(all.p95))} />
      </dl>
      {reviews === 0 ? null : (
        <p class="verdict wait">
          <a href={href("/settlements", { needs_review: "true" })}>{words.reviews(reviews)}</a>
        </p>
      )}
      <Section title={words.chart}>
        <Bars
          title={words.chart}
          series={[
            { name: words.series.paid, tone: "good" },
            { name: words.series.open, tone: "accent" },
            { name: words.series.failed, tone: "bad" },
          ]}
          bars={barsOf(settlements, period, until)}
        />
      </Section>
      <div class="split">
        <Section title={words.byCurrency}>
          <Table
            caption={words.byCurrency}
            rows={currencies}
            id={([currency]) => currency}
            to={([currency]) => href("/settlements", { currency })}
            columns={[
              { name: words.columns.currency, cell: ([currency]) => currency },
              { name: words.columns.count, number: true, cell: ([, group]) => count(group.length) },
              { name: words.columns.value, number: true, cell: ([currency, group]) => money(valueOf(group), currency) },
              { name: words.columns.success, number: true, cell: ([, group]) => share(figuresOf(group).success) },
            ]}
          />
        </Section>
        <Section title={words.byProvider}>
          <ByProvider settlements={settlements} providers={providers} />
        </Section>
      </div>
    </>
  );
}

function ByProvider({ settlements, providers }: Pick<SummaryProps, "settlements" | "providers">) {
  const rows = groups(settlements, ({ provider }) => provider).map(([id, group]): { id: string; figures: Figures; provider?: Provider } => {
    const provider = providers.find((one) => one.id === id);
    return { id, figures: figuresOf(group), ...(provider === undefined ? {} : { provider }) };
  });
  return (
    <Table
      caption={words.byProvider}
      rows={rows}
      id={({ id }) => id}
      to={({ id }) => href("/settlements", { provider: id })}
      columns={[
        { name: words.columns.provider, cell: ({ id, provider }) => provider?.name ?? id },
        { name: words.columns.health, cell: ({ provider }) => (provider === undefined ? "" : <HealthBadge status={provider.status} />) },
        { name: words.columns.success, number: true, cell: ({ figures }) => share(figures.success) },
        { name: words.columns.p50, number: true, cell: ({ figures }) => took(figures.p50) },
        { name: words.columns.p95, number: true, cell: ({ figures }) => took(figures.p95) },
      ]}
    />
  );
}

function barsOf(settlements: readonly Settlement[], period: Period, until: number): readonly Bar[] {
  const { ms, bar } = PERIODS[period];
  const begin = until - ms;
  const values = Array.from({ length: ms / bar }, () => [0, 0, 0]);
  for (const one of settlements) {
    const counts = values[Math.floor((Date.parse(one.created_at) - begin) / bar)];
    const kind = ["paid", "open", "failed"].indexOf(outcome(one));
    if (counts !== undefined && kind >= 0) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  const label = bar === HOUR_MS ? hour : day;
  return values.map((counts, n) => ({ label: label(new Date(begin + n * bar)), values: counts }));
}
