/** One provider: how it is, what was paid through it, and its configuration. */

import { useSignal } from "@preact/signals";
import type { Operators } from "railgate/client";
import { duration, money, percent } from "../../shared/format";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Empty, Shown } from "../../shared/ui/feedback";
import { Page, Section } from "../../shared/ui/page";
import { HealthBadge } from "../../shared/ui/states";
import { Table } from "../../shared/ui/table";
import { Badge, Copy, Facts } from "../../shared/ui/values";
import { useData } from "../data";
import { href } from "../router";
import { api } from "../session";
import type { ViewProps } from "../views";
import { Act, Waiting, WATCHED, useWaiting } from "./act";
import { ModeBadge } from "./badges";
import { FeeTable } from "./fees";
import { useMay } from "./people";

type Provider = Operators.OperatedProvider;
type Switch = "enable" | "disable" | "maintenance";

const words = text.operator.providers;

export default function ProviderPage({ params }: ViewProps) {
  const id = params["id"] ?? "";
  const data = useData(
    async (signal) => {
      const [provider, positions] = await Promise.all([
        api.value.call("GET", "/operator/providers/{id}", { params: { id }, signal }),
        api.value.call("GET", "/operator/providers/{id}/positions", { params: { id }, signal }),
      ]);
      return { provider, positions: positions.data };
    },
    ["provider", id],
    WATCHED,
  );
  const waiting = useWaiting(id);
  const may = useMay("agent");
  const reload = (): void => {
    data.reload();
    waiting.reload();
  };
  const found = data.value?.provider;
  return (
    <Page
      title={found?.name ?? id}
      about={found === undefined ? undefined : <State provider={found} />}
      actions={found !== undefined && may ? <Switches provider={found} onDone={reload} /> : undefined}
    >
      <Waiting of={waiting} />
      <Shown data={data}>
        {({ provider, positions }) => (
          <>
            <div class="split">
              <Section title={words.health} note={words.healthNote}>
                <Facts
                  rows={[
                    [words.columns.success, provider.success_rate ? percent(provider.success_rate) : words.noCalls],
                    [words.columns.p95, provider.p95_ms ? duration(provider.p95_ms) : words.noCalls],
                  ]}
                />
                <p class="links">
                  <a href={href("/settlements", { provider: id })}>{words.itsSettlements}</a>
                  <a href={href("/reconciliations", { provider: id })}>{words.itsReconciliations}</a>
                </p>
              </Section>
              <Section title={words.positions} note={words.positionsNote}>
                <Positions positions={positions} />
              </Section>
            </div>
            <Configuration provider={provider} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function State({ provider }: { provider: Provider }) {
  return (
    <span class="badges">
      {provider.enabled === false ? <Badge>{words.disabled}</Badge> : <HealthBadge status={provider.status} />}
      <ModeBadge sandbox={provider.mode === "sandbox"} />
    </span>
  );
}

/** What can be done with a provider as it is. */
function Switches({ provider, onDone }: { provider: Provider; onDone: () => void }) {
  const open = useSignal<Switch | undefined>(undefined);
  const off = provider.enabled === false;
  const offered: readonly Switch[] = off || provider.maintenance === true ? ["enable", "disable"] : ["maintenance", "disable"];
  const chosen = open.value;
  return (
    <>
      <a class="button plain" href={href(`/providers/${provider.id}/edit`)}>
        {words.edit}
      </a>
      {offered
        .filter((one) => !(one === "disable" && off))
        .map((one) => (
          <Button key={one} kind={one === "disable" ? "danger" : "plain"} onClick={() => (open.value = one)}>
            {words.switches[one].act}
          </Button>
        ))}
      {chosen === undefined ? null : (
        <Act
          title={words.switches[chosen].title(provider.name)}
          what={words.switches[chosen].what}
          rule={chosen === "enable" && provider.mode === "live" ? "provider" : "alone"}
          act={words.switches[chosen].act}
          danger={chosen === "disable"}
          run={(reason, idempotencyKey) =>
            api.value.call("POST", `/operator/providers/{id}/${chosen}`, { params: { id: provider.id }, body: { reason }, idempotencyKey })
          }
          done={words.switches[chosen].done}
          onDone={onDone}
          onClose={() => (open.value = undefined)}
        />
      )}
    </>
  );
}

function Positions({ positions }: { positions: readonly Operators.Position[] }) {
  if (positions.length === 0) return <Empty title={words.noPositions} />;
  return (
    <Table
      caption={words.positions}
      columns={[
        { name: words.currency, cell: ({ currency }: Operators.Position) => currency },
        { name: words.posted, number: true, cell: ({ posted, currency }) => money(posted, currency) },
        { name: words.pendingMoney, number: true, cell: ({ pending, currency }) => money(pending, currency) },
      ]}
      rows={positions}
      id={({ currency, sandbox }) => `${currency} ${sandbox}`}
    />
  );
}

const sum = (amount: string | number | null | undefined, currency: string): string =>
  amount === null || amount === undefined ? "–" : money(String(amount), currency);

/** A list of names, or that there is no limit. */
const listed = (names: readonly string[] | null | undefined, none: string): string =>
  names === null || names === undefined || names.length === 0 ? none : names.join(", ");

function Configuration({ provider }: { provider: Provider }) {
  const { limits, settings, timeouts } = provider;
  return (
    <>
      <Section title={words.configuration}>
        <Facts
          rows={[
            [words.fields.id, <Copy value={provider.id} />],
            [words.fields.rail, words.rails[provider.rail as keyof typeof words.rails] ?? provider.rail],
            [words.fields.base_url, provider.base_url ?? "–"],
            [words.fields.namespaces, listed(provider.namespaces, text.all)],
            [words.fields.currencies, listed(provider.currencies, text.all)],
            [words.fields.countries, listed(provider.countries, "–")],
            ...Object.entries(limits ?? {}).map(
              ([currency, { min, max }]) =>
                [`${words.fields.limits}: ${currency}`, words.range(sum(min, currency), sum(max, currency))] as const,
            ),
            ...Object.entries(settings ?? {}).map(([name, value]) => [`${words.fields.settings}: ${name}`, value] as const),
            [words.fields.secrets, provider.secret_names.length === 0 ? text.none : provider.secret_names.join(", ")],
            [words.fields.timeouts, words.timeouts(timeouts?.connect_ms ?? undefined, timeouts?.answer_ms ?? undefined)],
            [words.version, String(provider.version)],
          ]}
        />
      </Section>
      <Section title={words.fields.fees}>
        <FeeTable fees={provider.fees ?? []} />
      </Section>
    </>
  );
}
