/** What is agreed with a client: limits, fees, and what its sessions may sign. */

import { useSignal } from "@preact/signals";
import type { Operators } from "railgate/client";
import { typedNumber } from "../../../shared/decimal";
import { money } from "../../../shared/format";
import { text } from "../../../shared/text";
import { Button } from "../../../shared/ui/button";
import { Empty } from "../../../shared/ui/feedback";
import { SelectField, TextField } from "../../../shared/ui/field";
import { Section } from "../../../shared/ui/page";
import { Table } from "../../../shared/ui/table";
import { Facts } from "../../../shared/ui/values";
import { api } from "../../session";
import { Act } from "../act";
import { ModeBadge } from "../badges";
import { FeeEditor, FeeTable } from "../fees";
import { signedBySessions } from "./agreed";

type Client = Operators.ClientDetail;
type Limit = Operators.ClientLimitRequest;
type Mode = "live" | "sandbox";

const words = text.operator.clients.terms;
const MODES = [
  { value: "live", label: text.live },
  { value: "sandbox", label: text.sandbox },
] as const;
const SIGNING = (["all", "reads", "off"] as const).map((value) => ({ value, label: words.signing[value] }));

interface TermsProps {
  readonly client: Client;
  readonly may: boolean;
  readonly onDone: () => void;
}

export function Terms({ client, may, onDone }: TermsProps) {
  const open = useSignal<"limits" | "fees" | "signing" | undefined>(undefined);
  const close = () => (open.value = undefined);
  const { limits, fees, reversal_days } = client.terms;
  const edit = (what: "limits" | "fees" | "signing", label: string) =>
    may ? <Button onClick={() => (open.value = what)}>{label}</Button> : undefined;
  return (
    <>
      <Section title={words.limits} note={words.limitsNote} actions={edit("limits", words.editLimits)}>
        <Limits limits={limits ?? []} />
      </Section>
      <Section title={words.fees} note={words.feesNote} actions={edit("fees", words.editFees)}>
        <FeeTable fees={fees ?? []} />
      </Section>
      <Section title={words.more} actions={edit("signing", words.editSigning)}>
        <Facts
          rows={[
            ...MODES.map(({ value, label }) => {
              const now = signedBySessions(client, value);
              return [words.signs(label), words.signing[now as keyof typeof words.signing] ?? now] as const;
            }),
            [words.reversals, reversal_days === null || reversal_days === undefined ? words.noEnd : words.days(reversal_days)],
          ]}
        />
      </Section>
      {open.value === "limits" ? <LimitForm client={client} onDone={onDone} onClose={close} /> : null}
      {open.value === "fees" ? <FeesForm client={client} onDone={onDone} onClose={close} /> : null}
      {open.value === "signing" ? <SigningForm client={client} onDone={onDone} onClose={close} /> : null}
    </>
  );
}

function Limits({ limits }: { limits: readonly Limit[] }) {
  if (limits.length === 0) return <Empty title={words.noLimits} />;
  const sum = (amount: Limit["min"], currency: string): string =>
    amount === null || amount === undefined ? "–" : money(String(amount), currency);
  return (
    <Table
      caption={words.limits}
      columns={[
        { name: words.columns.currency, cell: ({ currency }: Limit) => currency },
        { name: words.columns.mode, cell: ({ mode }) => <ModeBadge sandbox={mode === "sandbox"} /> },
        { name: words.columns.min, number: true, cell: ({ min, currency }) => sum(min, currency) },
        { name: words.columns.max, number: true, cell: ({ max, currency }) => sum(max, currency) },
        { name: words.columns.dailyValue, number: true, cell: ({ daily_value, currency }) => sum(daily_value, currency) },
        { name: words.columns.dailyCount, number: true, cell: ({ daily_count }) => daily_count ?? "–" },
      ]}
      rows={limits}
      id={({ mode, currency }) => `${mode} ${currency}`}
    />
  );
}

type FormProps = Omit<TermsProps, "may"> & { readonly onClose: () => void };

function LimitForm({ client, onDone, onClose }: FormProps) {
  const mode = useSignal<Mode>("live");
  const currency = useSignal("EUR");
  const known = (client.terms.limits ?? []).find((one) => one.mode === mode.value && one.currency === currency.value);
  const typed = useSignal<Partial<Record<"min" | "max" | "daily_value" | "daily_count", string>>>({});
  const valueOf = (name: keyof typeof typed.value): string => typed.value[name] ?? String(known?.[name] ?? "");
  const field = (name: keyof typeof typed.value, label: string, error: string | undefined) => (
    <TextField
      label={label}
      optional
      inputMode="decimal"
      value={valueOf(name)}
      onValue={(value) => (typed.value = { ...typed.value, [name]: value })}
      error={error}
    />
  );
  const amount = (name: "min" | "max" | "daily_value"): string | null => (valueOf(name).trim() === "" ? null : valueOf(name).trim());
  const dailyCount = valueOf("daily_count").trim();
  return (
    <Act
      title={words.limitsTitle(client.name)}
      what={words.limitsWhat}
      rule="terms"
      act={words.save}
      run={(reason, idempotencyKey) =>
        api.value.call("PUT", "/operator/clients/{id}/limits", {
          params: { id: client.client_id },
          body: {
            mode: mode.value,
            currency: currency.value.trim(),
            min: amount("min"),
            max: amount("max"),
            daily_value: amount("daily_value"),
            daily_count: dailyCount === "" ? null : typedNumber(dailyCount),
            reason,
          },
          idempotencyKey,
        })
      }
      done={words.saved}
      onDone={onDone}
      onClose={onClose}
    >
      {(wrong) => (
        <>
          <SelectField label={words.columns.mode} value={mode.value} choices={MODES} onValue={(value) => (mode.value = value)} />
          <TextField
            label={words.columns.currency}
            maxLength={3}
            value={currency.value}
            onValue={(value) => (currency.value = value.toUpperCase())}
            error={wrong("/currency")}
          />
          {field("min", words.columns.min, wrong("/min"))}
          {field("max", words.columns.max, wrong("/max"))}
          {field("daily_value", words.columns.dailyValue, wrong("/daily_value"))}
          {field("daily_count", words.columns.dailyCount, wrong("/daily_count"))}
        </>
      )}
    </Act>
  );
}

function FeesForm({ client, onDone, onClose }: FormProps) {
  const fees = useSignal(client.terms.fees ?? []);
  return (
    <Act
      title={words.feesTitle(client.name)}
      what={words.feesWhat}
      rule="terms"
      act={words.save}
      run={(reason, idempotencyKey) =>
        api.value.call("PUT", "/operator/clients/{id}/fees", {
          params: { id: client.client_id },
          body: { fees: fees.value, reason },
          idempotencyKey,
        })
      }
      done={words.saved}
      onDone={onDone}
      onClose={onClose}
    >
      {() => <FeeEditor fees={fees.value} onFees={(next) => (fees.value = next)} />}
    </Act>
  );
}

function SigningForm({ client, onDone, onClose }: FormProps) {
  const mode = useSignal<Mode>("live");
  const signing = useSignal<"all" | "reads" | "off">("reads");
  return (
    <Act
      title={words.signingTitle(client.name)}
      what={words.signingWhat}
      rule="terms"
      act={words.save}
      run={(reason, idempotencyKey) =>
        api.value.call("PUT", "/operator/clients/{id}/session-signatures", {
          params: { id: client.client_id },
          body: { mode: mode.value, session_signatures: signing.value, reason },
          idempotencyKey,
        })
      }
      done={words.saved}
      onDone={onDone}
      onClose={onClose}
    >
      {() => (
        <>
          <SelectField label={words.columns.mode} value={mode.value} choices={MODES} onValue={(value) => (mode.value = value)} />
          <SelectField label={words.sessions} value={signing.value} choices={SIGNING} onValue={(value) => (signing.value = value)} />
        </>
      )}
    </Act>
  );
}
