/** Fees: a flat part and a percentage, within bounds. Providers have them, and clients instead. */

import type { Operators } from "railgate/client";
import { typedMoney } from "../../shared/format";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { SelectField, TextField } from "../../shared/ui/field";
import { type Column, Table } from "../../shared/ui/table";

type Fee = Operators.FeeRequest;

const words = text.operator.clients.fee;

const REFUNDS = (["none", "proportional", "full"] as const).map((value) => ({ value, label: words.refunds[value] }));
const FIELDS = ["currency", "namespace", "flat", "percent", "min", "max"] as const;

type Given = string | number | null | undefined;

const isGiven = (value: Given): value is string | number => value !== null && value !== undefined;
/** An amount of a rule; that of a rule for any currency is a number. */
const sum = (value: Given, { currency }: Fee): string => (isGiven(value) ? typedMoney(String(value), currency ?? "") : "–");
const share = (value: Given): string => (isGiven(value) ? `${value} %` : "–");

function tiersOf(fee: Fee): string {
  return (fee.tiers ?? []).map(({ from, flat, percent }) => words.tier(sum(from, fee), sum(flat ?? 0, fee), share(percent ?? 0))).join("; ");
}

const COLUMNS: readonly Column<Fee>[] = [
  {
    name: words.columns.of,
    cell: ({ currency, namespace }) => [currency ?? words.anyCurrency, namespace ?? words.anyNamespace].join(", "),
  },
  { name: words.columns.flat, number: true, cell: (fee) => sum(fee.flat, fee) },
  { name: words.columns.percent, number: true, cell: ({ percent }) => share(percent) },
  { name: words.columns.min, number: true, cell: (fee) => sum(fee.min, fee) },
  { name: words.columns.max, number: true, cell: (fee) => sum(fee.max, fee) },
  { name: words.columns.tiers, cell: (fee) => tiersOf(fee) || "–" },
  { name: words.columns.refund, cell: ({ refund }) => words.refunds[(refund ?? "none") as keyof typeof words.refunds] },
];

export function FeeTable({ fees }: { fees: readonly Fee[] }) {
  if (fees.length === 0) return <p class="note">{words.none}</p>;
  return <Table caption={words.title} columns={COLUMNS} rows={fees} id={(fee) => JSON.stringify(fee)} />;
}

export function FeeEditor({ fees, onFees }: { fees: readonly Fee[]; onFees: (fees: readonly Fee[]) => void }) {
  const change = (at: number, more: Partial<Fee>): void => onFees(fees.map((fee, n) => (n === at ? { ...fee, ...more } : fee)));
  return (
    <div class="rules">
      {fees.map((fee, n) => (
        <fieldset key={n} class="rule">
          <legend>{words.rule(n + 1)}</legend>
          <div class="columns">
            {FIELDS.map((name) => (
              <TextField
                key={name}
                label={words.fields[name]}
                optional
                value={String(fee[name] ?? "")}
                onValue={(value) => change(n, { [name]: value.trim() === "" ? null : value.trim() })}
              />
            ))}
            <SelectField
              label={words.columns.refund}
              value={(fee.refund ?? "none") as "none" | "proportional" | "full"}
              choices={REFUNDS}
              onValue={(refund) => change(n, { refund })}
            />
          </div>
          {(fee.tiers ?? []).length === 0 ? null : <p class="note">{words.keepsTiers(tiersOf(fee))}</p>}
          <Button kind="warning" onClick={() => onFees(fees.filter((_, at) => at !== n))}>
            {words.remove(n + 1)}
          </Button>
        </fieldset>
      ))}
      <Button icon="plus" onClick={() => onFees([...fees, {}])}>
        {words.add}
      </Button>
    </div>
  );
}
