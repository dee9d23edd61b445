/** Charts without a library: bars of SVG, with the same figures as a table for those who cannot see them, or want them. */

import { useState } from "preact/hooks";
import { count } from "../format";
import { text } from "../text";
import { Button } from "./button";
import { Table } from "./table";
import type { Tone } from "./values";

export interface Series {
  readonly name: string;
  readonly tone: Tone;
}

export interface Bar {
  readonly label: string;
  /** One value for each series. */
  readonly values: readonly number[];
}

const WIDTH = 720;
const HEIGHT = 180;
const GAP = 0.28;
/** A bar with a name is not wider, however few there are. */
const WIDEST = 72;
/** About how many labels fit below. */
const LABELS = 8;

interface BarsProps {
  readonly title: string;
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
  /** Whether each bar has a name of its own; otherwise, they are moments, some of which are named. */
  readonly named?: boolean;
}

export function Bars({ title, series, bars, named = false }: BarsProps) {
  const [tabled, setTabled] = useState(false);
  const sums = bars.map(({ values }) => values.reduce((all, value) => all + value, 0));
  return (
    <figure class="chart">
      <figcaption>
        <ul class="legend">
          {series.map(({ name, tone }) => (
            <li key={name} class={tone}>
              {name}
            </li>
          ))}
        </ul>
        <Button kind="quiet" onClick={() => setTabled(!tabled)}>
          {tabled ? text.chart.hide : text.chart.table}
        </Button>
      </figcaption>
      {tabled ? (
        <Table
          caption={title}
          rows={bars}
          id={({ label }) => label}
          columns={[
            { name: title, cell: ({ label }) => label },
            ...series.map(({ name }, n) => ({ name, number: true, cell: ({ values }: Bar) => count(values[n] ?? 0) })),
          ]}
        />
      ) : (
        <Drawn title={title} series={series} bars={bars} named={named} most={Math.max(1, ...sums)} />
      )}
    </figure>
  );
}

function Drawn({ title, series, bars, named, most }: Required<BarsProps> & { most: number }) {
  const slot = WIDTH / Math.max(bars.length, 1);
  const width = Math.min(slot * (1 - GAP), named ? WIDEST : slot);
  const every = named ? 1 : Math.ceil(bars.length / LABELS);
  return (
    <div class="plot">
      <span class="plot-most number" aria-hidden="true">
        {count(most)}
      </span>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={title} preserveAspectRatio="none">
        <line class="axis" x1="0" x2={WIDTH} y1="0.5" y2="0.5" />
        <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {bars.map(({ label, values }, at) => (
          <g key={label}>
            <title>{`${label}: ${series.map(({ name }, n) => `${name} ${count(values[n] ?? 0)}`).join(", ")}`}</title>
            <rect class="slot" x={at * slot} y="0" width={slot} height={HEIGHT} />
            {stacked(values).map(({ from, to }, n) => (
              <rect
                key={n}
                class={series[n]?.tone ?? "idle"}
                x={(at + 0.5) * slot - width / 2}
                y={HEIGHT * (1 - to / most)}
                width={width}
                height={(HEIGHT * (to - from)) / most}
              />
            ))}
          </g>
        ))}
      </svg>
      <ol class={named ? "plot-labels named" : "plot-labels"} aria-hidden="true">
        {bars.map(({ label }, at) => (at % every === 0 ? <li key={label}>{label}</li> : null))}
      </ol>
    </div>
  );
}

/** Where each part of a bar begins and ends. */
function stacked(values: readonly number[]): readonly { from: number; to: number }[] {
  let sum = 0;
  return values.map((value) => {
    const from = sum;
    sum += value;
    return { from, to: sum };
  });
}

/** A figure that is read at a glance. */
export function Figure({ name, value, note }: { name: string; value: string; note?: string | undefined }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
      {note === undefined ? null : <dd class="figure-note">{note}</dd>}
    </div>
  );
}
