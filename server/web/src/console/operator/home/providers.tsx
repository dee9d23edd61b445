/** How providers and servers are; what is not well comes first. */

import type { Health, Operators } from "railgate/client";
import { duration, percent } from "../../../shared/format";
import { text } from "../../../shared/text";
import { HealthBadge } from "../../../shared/ui/states";
import { Empty } from "../../../shared/ui/feedback";
import { type Column, Table } from "../../../shared/ui/table";
import { Badge, Time } from "../../../shared/ui/values";
import { href } from "../../router";
import { ModeBadge } from "../badges";

type Provider = Operators.OperatedProvider;

const words = text.operator.home;

const RANK: Record<Health, number> = { down: 0, degraded: 1, maintenance: 2, up: 3 };

export const providerColumns: readonly Column<Provider>[] = [
  { name: text.operator.providers.columns.provider, cell: ({ name }) => name },
  {
    name: text.operator.providers.columns.status,
    cell: ({ status, enabled }) => (
      <span class="badges">
        {enabled === false ? <Badge>{text.operator.providers.disabled}</Badge> : <HealthBadge status={status} />}
      </span>
    ),
  },
  { name: text.operator.providers.columns.mode, cell: ({ mode }) => <ModeBadge sandbox={mode === "sandbox"} /> },
  {
    name: text.operator.providers.columns.success,
    number: true,
    cell: ({ success_rate }) => (success_rate === null || success_rate === undefined ? "–" : percent(success_rate)),
  },
  {
    name: text.operator.providers.columns.p95,
    number: true,
    cell: ({ p95_ms }) => (p95_ms === null || p95_ms === undefined ? "–" : duration(p95_ms)),
  },
];

/** Providers by health, the worst first. */
export function Providers({ providers }: { providers: readonly Provider[] }) {
  if (providers.length === 0) return <Empty />;
  const sorted = [...providers].sort((a, b) => RANK[a.status] - RANK[b.status] || a.id.localeCompare(b.id));
  return (
    <Table
      caption={words.providers}
      columns={providerColumns}
      rows={sorted}
      id={({ id }) => id}
      to={({ id }) => href(`/providers/${id}`)}
    />
  );
}

export function Servers({ nodes }: { nodes: readonly Operators.Node[] }) {
  if (nodes.length === 0) return <Empty title={words.noServers} />;
  return (
    <Table
      caption={words.servers}
      columns={[
        { name: words.server.host, cell: ({ host, address }: Operators.Node) => address ?? host },
        {
          name: words.server.state,
          cell: ({ up }) => <Badge tone={up ? "good" : "bad"}>{up ? words.server.up : words.server.gone}</Badge>,
        },
        { name: words.server.version, cell: ({ version }) => version },
        { name: words.server.started, cell: ({ started_at }) => <Time at={started_at} /> },
        { name: words.server.seen, cell: ({ seen_at }) => <Time at={seen_at} /> },
      ]}
      rows={[...nodes].sort((a, b) => Number(a.up) - Number(b.up))}
      id={({ id }) => id}
    />
  );
}
