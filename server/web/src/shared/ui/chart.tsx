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
const FOOT = 22;
const GAP = 0.28;
/** About how many labels fit below. */
const LABELS = 8;

export function Bars({ title, series, bars }: { title: string; series: readonly Series[]; bars: readonly Bar[] }) {
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
        <Drawn title={title} series={series} bars={bars} most={Math.max(1, ...sums)} />
      )}
    </figure>
  );
}

function Drawn({ title, series, bars, most }: { title: string; series: readonly Series[]; bars: readonly Bar[]; most: number }) {
  const slot = WIDTH / Math.max(bars.length, 1);
  const every = Math.ceil(bars.length / LABELS);
  const scale = (HEIGHT - FOOT - 12) / most;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={title} preserveAspectRatio="none">
      <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} />
      {bars.map(({ label, values }, at) => {
        let top = HEIGHT - FOOT;
        return (
          <g key={label}>
            <title>{`${label}: ${series.map(({ name }, n) => `${name} ${count(values[n] ?? 0)}`).join(", ")}`}</title>
            <rect class="slot" x={at * slot} y="0" width={slot} height={HEIGHT - FOOT} />
            {values.map((value, n) => {
              const height = value * scale;
              top -= height;
              const tone = series[n]?.tone ?? "idle";
              return <rect key={tone} class={tone} x={(at + GAP / 2) * slot} y={top} width={slot * (1 - GAP)} height={height} rx="2" />;
            })}
            {at % every === 0 ? (
              <text x={at * slot + slot / 2} y={HEIGHT - 6} text-anchor="middle">
                {label}
              </text>
            ) : null}
          </g>
        );
      })}
    </svg>
  );
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
