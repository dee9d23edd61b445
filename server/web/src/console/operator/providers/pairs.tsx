/** Editors of names with values, and of limits by currency. */

import { useSignal } from "@preact/signals";
import type { Operators } from "railgate/client";
import { text } from "../../../shared/text";
import { Button, IconButton } from "../../../shared/ui/button";
import { TextField } from "../../../shared/ui/field";

const words = text.operator.providers;

/** Rows that are typed: while a name is empty or there twice, the object has no place for it. */
function useRows<V>(given: Readonly<Record<string, V>>, onGiven: (next: Readonly<Record<string, V>>) => void) {
  const rows = useSignal<readonly (readonly [name: string, value: V])[]>(Object.entries(given));
  const change = (next: readonly (readonly [string, V])[]): void => {
    rows.value = next;
    onGiven(Object.fromEntries(next.filter(([name]) => name !== "")));
  };
  return {
    rows: rows.value,
    add: (empty: V) => change([...rows.value, ["", empty]]),
    remove: (at: number) => change(rows.value.filter((_, n) => n !== at)),
    set: (at: number, name: string, value: V) => change(rows.value.map((row, n) => (n === at ? [name, value] : row))),
  };
}

interface PairsProps {
  /** What a pair is called, such as a setting. */
  readonly what: string;
  readonly pairs: Readonly<Record<string, string>>;
  readonly onPairs: (pairs: Readonly<Record<string, string>>) => void;
}

export function Pairs({ what, pairs, onPairs }: PairsProps) {
  const { rows, add, remove, set } = useRows(pairs, onPairs);
  return (
    <div class="rules">
      {rows.map(([name, value], n) => (
        <div key={n} class="pair">
          <TextField label={words.pairName(what, n + 1)} value={name} onValue={(typed) => set(n, typed.trim(), value)} />
          <TextField label={words.pairValue(what, n + 1)} value={value} onValue={(typed) => set(n, name, typed)} />
          <IconButton icon="close" label={words.removePair(what, n + 1)} onClick={() => remove(n)} />
        </div>
      ))}
      <Button icon="plus" onClick={() => add("")}>
        {words.addPair(what)}
      </Button>
    </div>
  );
}

interface LimitsProps {
  readonly limits: Readonly<Record<string, Operators.LimitRequest>>;
  readonly onLimits: (limits: Readonly<Record<string, Operators.LimitRequest>>) => void;
}

/** An amount, or nothing. */
const amountOf = (typed: string): string | null => (typed.trim() === "" ? null : typed.trim());

export function Limits({ limits, onLimits }: LimitsProps) {
  const { rows, add, remove, set } = useRows(limits, onLimits);
  return (
    <div class="rules">
      {rows.map(([currency, limit], n) => (
        <div key={n} class="pair">
          <TextField label={words.currency} maxLength={3} value={currency} onValue={(typed) => set(n, typed.trim().toUpperCase(), limit)} />
          {(["min", "max"] as const).map((name) => (
            <TextField
              key={name}
              label={words[name]}
              optional
              inputMode="decimal"
              value={String(limit[name] ?? "")}
              onValue={(typed) => set(n, currency, { ...limit, [name]: amountOf(typed) })}
            />
          ))}
          <IconButton icon="close" label={words.removePair(words.limit, n + 1)} onClick={() => remove(n)} />
        </div>
      ))}
      <Button icon="plus" onClick={() => add({})}>
        {words.addPair(words.limit)}
      </Button>
    </div>
  );
}
