/** Entries of the table of routes, for reading. */

import type { Operators } from "railgate/client";
import { money } from "../../../shared/format";
import { text } from "../../../shared/text";
import { Table } from "../../../shared/ui/table";
import { ModeBadge } from "../badges";
import { ProviderLink } from "../subjects";

type Entry = Operators.RouteRequest;

const words = text.operator.routes;

/** Which amounts an entry is for. */
function amountsOf({ min, max, currency }: Entry): string {
  if (currency === null || currency === undefined) return words.anyAmount;
  const [from, to] = [min, max].map((amount) => (amount === null || amount === undefined ? undefined : money(String(amount), currency)));
  return from === undefined && to === undefined ? words.anyAmount : words.between(from, to);
}

/** Who is tried, in order: those of one priority share. */
function Choices({ providers }: { providers: Entry["providers"] }) {
  const order = [...providers].sort((a, b) => a.priority - b.priority);
  return (
    <ol class="choices-of">
      {order.map(({ id, priority, weight }) => (
        <li key={id}>
          <ProviderLink id={id} /> {words.priorityOf(priority, weight ?? 1)}
        </li>
      ))}
    </ol>
  );
}

export function RouteTable({ routes }: { routes: readonly Entry[] }) {
  return (
    <Table
      caption={text.operator.nav.routes}
      columns={[
        { name: words.columns.participants, cell: ({ namespace, prefix }: Entry) => `${namespace}:${prefix ?? "…"}` },
        { name: words.columns.mode, cell: ({ mode }) => <ModeBadge sandbox={mode === "sandbox"} /> },
        { name: words.columns.currency, cell: ({ currency }) => currency ?? text.any },
        { name: words.columns.amounts, cell: amountsOf },
        { name: words.columns.providers, cell: ({ providers }) => <Choices providers={providers} /> },
      ]}
      rows={routes}
      id={({ providers: _, ...entry }) => JSON.stringify(entry)}
    />
  );
}
