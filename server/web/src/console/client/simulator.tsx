/** The simulated operator of the sandbox: scenarios to play, the clock, faults, play money, and starting again. */

import { useSignal } from "@preact/signals";
import type { Faults, ResetRequest } from "railgate/client";
import { typedNumber } from "../../shared/decimal";
import { duration } from "../../shared/format";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Confirm } from "../../shared/ui/dialog";
import { Problem, Shown, say } from "../../shared/ui/feedback";
import { SelectField, TextField, errorOf } from "../../shared/ui/field";
import { Page, Section } from "../../shared/ui/page";
import { Table } from "../../shared/ui/table";
import { Badge, Facts, Time } from "../../shared/ui/values";
import { type Act, useAct, useData, useKeyedAct } from "../data";
import { go } from "../router";
import { api } from "../session";
import { settlementHref } from "../settlements/list";

const words = text.simulator;

export default function Simulator() {
  const resetting = useSignal(false);
  const act = useAct(async () => {
    // Much that is open takes several calls.
    for (let request: ResetRequest | undefined = {}; request !== undefined;) {
      const { next_cursor: cursor } = await api.value.reset(request);
      request = cursor === null || cursor === undefined ? undefined : { cursor };
    }
    say(words.resetDone);
    resetting.value = false;
  });
  return (
    <Page
      title={words.title}
      actions={
        <Button kind="danger" onClick={() => (resetting.value = true)}>
          {words.reset}
        </Button>
      }
    >
      <p class="note">{words.intro}</p>
      <div class="split">
        <ClockSection />
        <Fund />
      </div>
      <FaultsSection />
      <Scenarios />
      {resetting.value ? (
        <Confirm
          title={words.resetTitle}
          what={words.resetWhat}
          act={words.reset}
          busy={act.busy}
          problem={act.problem}
          onConfirm={() => void act.run()}
          onClose={() => (resetting.value = false)}
        />
      ) : null}
    </Page>
  );
}

const submit = (act: Act<[]>) => (event: Event) => {
  event.preventDefault();
  void act.run();
};

const UNITS = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
type Unit = keyof typeof UNITS;
const UNIT_NAMES = Object.keys(UNITS) as readonly Unit[];

function ClockSection() {
  const client = api.value;
  const data = useData((signal) => client.clock({ signal }), [client.keyId], { on: false, everyMs: 5_000 });
  const by = useSignal("1");
  const unit = useSignal<Unit>("hours");
  const freezing = useAct(async (frozen: boolean) => {
    await client.setClock({ frozen });
    data.reload();
  });
  const advancing = useAct(async () => {
    await client.setClock({ advance_ms: Math.round(Number(by.value) * UNITS[unit.value]) });
    say(words.advanced);
    data.reload();
  });
  const problem = freezing.problem ?? advancing.problem;
  return (
    <Section title={words.clock}>
      <Shown data={data}>
        {({ now, frozen, ahead_ms }) => (
          <>
            <Facts
              rows={[
                [words.now, <Time key="now" at={now} full />],
                [
                  words.clock,
                  <span key="state" class="badges">
                    <Badge tone={frozen ? "wait" : "good"}>{frozen ? words.frozen : words.running}</Badge>
                    {ahead_ms === 0 ? null : <Badge>{words.ahead(duration(ahead_ms))}</Badge>}
                  </span>,
                ],
              ]}
            />
            <div>
              <Button busy={freezing.busy} onClick={() => void freezing.run(!frozen)}>
                {frozen ? words.run : words.freeze}
              </Button>
            </div>
          </>
        )}
      </Shown>
      <form class="line" onSubmit={submit(advancing)}>
        <TextField label={words.advance} inputMode="decimal" value={by.value} onValue={(value) => (by.value = value)} />
        <SelectField
          label={words.advanceUnit}
          value={unit.value}
          choices={UNIT_NAMES.map((value) => ({ value, label: words.advanceUnits[value] }))}
          onValue={(value) => (unit.value = value)}
        />
        <Button type="submit" busy={advancing.busy}>
          {words.advanceAct}
        </Button>
      </form>
      {problem === undefined ? null : <Problem problem={problem} />}
    </Section>
  );
}

function Fund() {
  const client = api.value;
  const balances = useData((signal) => client.balances({ signal }), [client.keyId]);
  const amount = useSignal("1000");
  const chosen = useSignal("");
  const currencies = (balances.value ?? []).map(({ currency }) => currency);
  const currency = chosen.value === "" ? (currencies[0] ?? "") : chosen.value;
  const act = useKeyedAct(async (idempotencyKey) => {
    await client.call("POST", "/simulator/fund", { body: { currency, amount: amount.value.trim() }, idempotencyKey });
    say(words.funded);
    balances.reload();
  });
  return (
    <Section title={words.fund}>
      <form class="line" onSubmit={submit(act)}>
        <TextField
          label={words.fundAmount}
          inputMode="decimal"
          value={amount.value}
          onValue={(value) => (amount.value = value)}
          error={errorOf(act.problem, "/amount")}
        />
        <SelectField
          label={words.fundCurrency}
          value={currency}
          choices={currencies.map((value) => ({ value, label: value }))}
          onValue={(value) => (chosen.value = value)}
        />
        <Button type="submit" busy={act.busy}>
          {words.fundAct}
        </Button>
      </form>
      {act.problem === undefined ? null : <Problem problem={act.problem} />}
    </Section>
  );
}

function FaultsSection() {
  const client = api.value;
  const data = useData((signal) => client.faults({ signal }), [client.keyId], { on: false });
  return (
    <Section title={words.faults} note={words.faultsNote}>
      <Shown data={data}>{(faults) => <FaultsForm faults={faults} />}</Shown>
    </Section>
  );
}

const FAULT_FIELDS = [
  ["rate", words.rate],
  ["latency_ms", words.latency],
  ["drop_answer_rate", words.drop],
  ["seed", words.seed],
] as const;

function FaultsForm({ faults }: { faults: Faults }) {
  const values = useSignal<Record<keyof Faults, string>>({
    rate: String(faults.rate),
    latency_ms: String(faults.latency_ms),
    drop_answer_rate: String(faults.drop_answer_rate),
    seed: String(faults.seed),
  });
  const act = useAct(async () => {
    const numbers = Object.entries(values.value).map(([name, value]) => [name, typedNumber(value)] as const);
    await api.value.setFaults(Object.fromEntries(numbers));
    say(words.faultsSet);
  });
  return (
    <form onSubmit={submit(act)}>
      <div class="columns">
        {FAULT_FIELDS.map(([name, label]) => (
          <TextField
            key={name}
            label={label}
            inputMode="decimal"
            value={values.value[name]}
            onValue={(value) => (values.value = { ...values.value, [name]: value })}
            error={errorOf(act.problem, `/${name}`)}
          />
        ))}
      </div>
      {act.problem === undefined ? null : <Problem problem={act.problem} />}
      <Button type="submit" busy={act.busy}>
        {text.save}
      </Button>
    </form>
  );
}

/** What a scenario is played with; it needs an account in this currency. */
const PLAYED_AMOUNT = "10";

function Scenarios() {
  const client = api.value;
  const data = useData((signal) => Promise.all([client.scenarios({ signal }), client.balances({ signal })]), [client.keyId], { on: false });
  const act = useKeyedAct(async (key, to: string) => {
    const currency = data.value?.[1].find((balance) => balance.currency === "EUR")?.currency ?? data.value?.[1][0]?.currency ?? "";
    const reference = `play-${to.replace(/[^\w.-]/g, "-").slice(0, 40)}-${key.slice(0, 8)}`;
    const { settlement } = await client.create({ amount: PLAYED_AMOUNT, currency, to, reference });
    go(settlementHref(settlement));
  });
  return (
    <Section title={words.scenarios}>
      {act.problem === undefined ? null : <Problem problem={act.problem} />}
      <Shown data={data}>
        {([scenarios]) => (
          <Table
            caption={words.scenarios}
            rows={scenarios}
            id={({ to }) => to}
            columns={[
              { name: words.scenario.to, cell: ({ to }) => <code>{to}</code> },
              { name: words.scenario.description, cell: ({ description }) => description },
              {
                name: words.scenario.act,
                cell: ({ to }) => (
                  <Button icon="simulator" busy={act.busy} aria-label={words.playLabel(to)} onClick={() => void act.run(to)}>
                    {words.play}
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}
