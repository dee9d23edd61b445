/** Values as readers see them: amounts, times, states, ids. */

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { ago, moment, money, utc } from "../format";
import { text } from "../text";
import { IconButton } from "./button";

export function Money({ amount, currency }: { amount: string; currency: string }) {
  return <span class="number">{money(amount, currency)}</span>;
}

/** The time that relative times are measured from; it moves on by itself. */
const now = signal(Date.now());
setInterval(() => document.hidden || (now.value = Date.now()), 10_000);

/** A time: how long ago, or in full with `full`. UTC is in its title. */
export function Time({ at, full = false }: { at: string; full?: boolean }) {
  return (
    <time dateTime={at} title={`${moment(at)}\n${utc(at)}`}>
      {full ? moment(at) : ago(at, Math.max(now.value, Date.now()))}
    </time>
  );
}

export type Tone = "good" | "wait" | "bad" | "idle" | "accent";

export function Badge({ tone = "idle", children }: { tone?: Tone; children: string }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** An id or another text that is copied as a whole. */
export function Copy({ value, label, shown = value }: { value: string; label?: string; shown?: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <span class="copy">
      <code title={value}>{shown}</code>
      <IconButton
        icon={copied ? "check" : "copy"}
        label={copied ? text.copied : (label ?? `${text.copy} ${value.slice(0, 24)}`)}
        onClick={() => {
          void navigator.clipboard.writeText(value).then(() => setCopied(true));
        }}
      />
    </span>
  );
}

/** Names and values of one thing. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: preact.ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
