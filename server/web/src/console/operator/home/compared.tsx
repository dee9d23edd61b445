/** What happened in the last day beside the same hours a week before, by provider and currency; what changed most comes first. */

import type { Operators } from "railgate/client";
import { count, duration, money, percent } from "../../../shared/format";
import { text } from "../../../shared/text";
import { Empty } from "../../../shared/ui/feedback";
import { type Column, Table } from "../../../shared/ui/table";
import { Badge } from "../../../shared/ui/values";
import { ProviderName } from "../../names";
import { href } from "../../router";
import { ModeBadge } from "../badges";
import { Beside } from "./beside";
import { Glance } from "./glance";
import type { Picture } from "./picture";

type Figure = Operators.Figure;

const words = text.operator.home;

/** A week's change that a person should look at: so many points of success fewer, or so many times the latency. */
const FEWER_POINTS = 0.05;
const TIMES_SLOWER = 2;
/** Without an earlier figure, less success than this is unusual in itself. */
const USUAL_SUCCESS = 0.9;
/** With fewer that ended, a share says little. */
const ENOUGH = 5;

type Unusual = "declines" | "manyDeclines" | "slower";

interface Row {
  readonly now: Figure;
  readonly before: Figure | undefined;
  readonly unusual: readonly Unusual[];
}

const keyOf = ({ provider, currency, sandbox }: Figure): string => `${provider} ${currency} ${sandbox}`;

/** What is unusual about a figure. */
function unusualOf(now: Figure, before: Figure | undefined): readonly Unusual[] {
  const found: Unusual[] = [];
  const rate = now.success_rate ?? undefined;
  const usual = before?.success_rate ?? undefined;
  if (rate !== undefined && now.succeeded + now.failed >= ENOUGH) {
    if (usual === undefined && rate < USUAL_SUCCESS) found.push("manyDeclines");
    if (usual !== undefined && usual - rate >= FEWER_POINTS) found.push("declines");
  }
  const [slow, slowBefore] = [now.p95_ms ?? undefined, before?.p95_ms ?? undefined];
  if (slow !== undefined && slowBefore !== undefined && slow >= slowBefore * TIMES_SLOWER) found.push("slower");
  return found;
}

/** Figures of now beside those before: unusual ones first, then live ones, then the largest. */
function rowsOf({ now, before }: Picture): Row[] {
  const earlier = new Map(before.figures.map((one) => [keyOf(one), one]));
  const rows = now.figures.map((one) => {
    const was = earlier.get(keyOf(one));
    return { now: one, before: was, unusual: unusualOf(one, was) };
  });
  const rank = (row: Row): number => (row.unusual.length > 0 ? 0 : 2) + (row.now.sandbox ? 1 : 0);
  return rows.sort((a, b) => rank(a) - rank(b) || b.now.count - a.now.count);
}

/** A part of a figure; a dash if there is none of it, nothing if there is no figure. */
const partOf = (figure: Figure | undefined, part: "success_rate" | "p95_ms", shown: (value: number) => string): string | undefined => {
  const value = figure?.[part];
  return figure === undefined ? undefined : value === null || value === undefined ? "–" : shown(value);
};
const shareOf = (figure: Figure | undefined): string | undefined => partOf(figure, "success_rate", percent);
const tookOf = (figure: Figure | undefined): string | undefined => partOf(figure, "p95_ms", duration);

const COLUMNS: readonly Column<Row>[] = [
  { name: words.columns.provider, cell: ({ now }) => <><ProviderName id={now.provider} /> {now.currency}</> },
  {
    name: words.columns.what,
    cell: ({ now, unusual }) => (
      <span class="badges">
        {unusual.map((one) => (
          <Badge key={one} tone="bad">
            {words[one]}
          </Badge>
        ))}
        <ModeBadge sandbox={now.sandbox} />
      </span>
    ),
  },
  {
    name: words.columns.count,
    number: true,
    cell: ({ now, before }) => <Beside now={count(now.count)} before={before && count(before.count)} />,
  },
  {
    name: words.columns.value,
    number: true,
    cell: ({ now, before }) => (
      <Beside now={money(now.succeeded_value, now.currency)} before={before && money(before.succeeded_value, before.currency)} />
    ),
  },
  {
    name: words.columns.success,
    number: true,
    cell: ({ now, before }) => <Beside now={shareOf(now) ?? "–"} before={shareOf(before)} />,
  },
  { name: words.columns.p95, number: true, cell: ({ now, before }) => <Beside now={tookOf(now) ?? "–"} before={tookOf(before)} /> },
];

export function Compared({ picture }: { picture: Picture }) {
  const rows = rowsOf(picture);
  if (rows.length === 0) return <Empty title={words.noPayments} />;
  return (
    <>
      {picture.now.complete ? null : <p class="note">{words.incomplete(picture.now.counted)}</p>}
      <Glance picture={picture} />
      {rows.every(({ before }) => before === undefined) ? <p class="note">{words.noneBefore}</p> : null}
      <Table
        caption={words.unusual}
        columns={COLUMNS}
        rows={rows}
        id={({ now }) => keyOf(now)}
        to={({ now, unusual }) =>
          href("/settlements", {
            provider: now.provider,
            currency: now.currency,
            created_from: picture.now.from,
            status: unusual.some((one) => one !== "slower") ? "failed" : undefined,
          })
        }
      />
    </>
  );
}
