/** Tells where a payment would go by the table in force, and why not elsewhere. */

import { useSignal } from "@preact/signals";
import type { Operators, RouteStep } from "railgate/client";
import { money } from "../../../shared/format";
import { text } from "../../../shared/text";
import { Button } from "../../../shared/ui/button";
import { Empty, Problem } from "../../../shared/ui/feedback";
import { SelectField, TextField, errorOf } from "../../../shared/ui/field";
import { Section } from "../../../shared/ui/page";
import { HealthBadge } from "../../../shared/ui/states";
import { Table } from "../../../shared/ui/table";
import { Badge } from "../../../shared/ui/values";
import { useAct } from "../../data";
import { api } from "../../session";
import { ProviderLink } from "../subjects";

const words = text.operator.routes.tester;
const MODES = [
  { value: "sandbox", label: text.sandbox },
  { value: "live", label: text.live },
] as const;

/** Names the payment in the answer alone: nothing is stored. */
const REFERENCE = "route-test";

interface Found {
  readonly currency: string;
  readonly route: readonly RouteStep[];
}

export function Tester({ providers }: { providers: readonly Operators.OperatedProvider[] }) {
  const to = useSignal("");
  const amount = useSignal("10.00");
  const currency = useSignal("EUR");
  const mode = useSignal<"sandbox" | "live">("sandbox");
  const client = useSignal("");
  const found = useSignal<Found | undefined>(undefined);
  const act = useAct(async () => {
    const payment = {
      amount: amount.value,
      currency: currency.value,
      to: to.value.trim(),
      reference: REFERENCE,
      sandbox: mode.value === "sandbox",
    };
    const answer = await api.value.call("POST", "/operator/routes/explain", {
      body: payment,
      ...(client.value.trim() === "" ? {} : { query: { client: client.value.trim() } }),
    });
    found.value = { currency: payment.currency, route: answer.route };
  });
  return (
    <Section title={words.title} note={words.note}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act.run();
        }}
      >
        <div class="columns">
          <TextField
            label={words.to}
            hint={words.toHint}
            value={to.value}
            onValue={(value) => (to.value = value)}
            error={errorOf(act.problem, "/to")}
          />
          <TextField
            label={words.amount}
            inputMode="decimal"
            value={amount.value}
            onValue={(value) => (amount.value = value)}
            error={errorOf(act.problem, "/amount")}
          />
          <TextField
            label={words.currency}
            maxLength={3}
            value={currency.value}
            onValue={(value) => (currency.value = value.toUpperCase())}
            error={errorOf(act.problem, "/currency")}
          />
          <SelectField label={words.mode} value={mode.value} choices={MODES} onValue={(value) => (mode.value = value)} />
          <TextField
            label={words.client}
            hint={words.clientHint}
            optional
            value={client.value}
            onValue={(value) => (client.value = value)}
          />
        </div>
        {act.problem === undefined ? null : <Problem problem={act.problem} reads />}
        <Button type="submit" busy={act.busy}>
          {words.run}
        </Button>
      </form>
      {found.value === undefined ? null : <Found found={found.value} providers={providers} />}
    </Section>
  );
}

function Found({ found, providers }: { found: Found; providers: readonly Operators.OperatedProvider[] }) {
  if (found.route.length === 0) return <Empty title={words.nowhere} />;
  const known = (id: string): boolean => providers.some((one) => one.id === id);
  return (
    <div role="status">
      <Table
        caption={words.result}
        columns={[
          {
            name: words.columns.provider,
            cell: ({ provider }: RouteStep) => (known(provider) ? <ProviderLink id={provider} /> : provider),
          },
          {
            name: words.columns.verdict,
            cell: ({ verdict, why }) => (
              <span class="badges">
                <Badge tone={verdict === "in" ? "good" : "idle"}>{verdict === "in" ? words.takes : words.not}</Badge>
                {why === null ? null : text.states.refusal[why]}
              </span>
            ),
          },
          { name: words.columns.health, cell: ({ health }) => <HealthBadge status={health} /> },
          { name: words.columns.fee, number: true, cell: ({ fee }) => (fee === null ? "–" : money(fee, found.currency)) },
        ]}
        rows={found.route}
        id={({ provider }) => provider}
      />
    </div>
  );
}
