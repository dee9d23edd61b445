/** Payments to try: a payee of the simulated operator, and the trace as it happens. */

import type { Gateway, Scenario, Settlement, SettlementEvent } from "railgate";
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useAct } from "../shared/act";
import { money } from "../shared/format";
import { docs } from "../shared/text/docs";
import { capital } from "../shared/capital";
import { Button } from "../shared/ui/button";
import { Loading, Problem } from "../shared/ui/feedback";
import { SelectField, TextField, errorOf } from "../shared/ui/field";
import { Badge, Facts } from "../shared/ui/values";
import { chosen, enrolledAs, where } from "./gateways";
import { Trace, toneOf } from "./trace";
import { ChooseGateway, isReady } from "./where";

const words = docs.play;
const FIRST = "sim:failover";
const AHEAD_MS = 30_000;
const REVERSIBLE = new Set(["completed", "partially_reversed"]);

const asked = new URLSearchParams(location.search).get("to");
const freshReference = (): string => `inv-${Date.now().toString(36)}`;

/** A payment as it is followed: its record, and its events so far. */
interface Followed {
  readonly settlement: Settlement;
  readonly events: readonly SettlementEvent[];
}

/** Follows a payment until another one is chosen. */
function useFollowed(reference: string | undefined): Followed | undefined {
  const [followed, setFollowed] = useState<Followed | undefined>();
  useEffect(() => {
    setFollowed(undefined);
    if (reference === undefined) return undefined;
    const ended = new AbortController();
    const follow = async (): Promise<void> => {
      const gateway = await chosen();
      let events: readonly SettlementEvent[] = [];
      for await (const event of gateway.follow(reference, { signal: ended.signal })) {
        events = [...events, event];
        setFollowed({ settlement: await gateway.get(reference), events });
      }
    };
    follow().catch((error: unknown) => {
      if (!ended.signal.aborted) throw error;
    });
    return () => ended.abort();
  }, [reference]);
  return followed;
}

function useScenarios(): readonly Scenario[] | undefined {
  const [scenarios, setScenarios] = useState<readonly Scenario[] | undefined>();
  const read = useAct(async () => setScenarios(await (await chosen()).scenarios()));
  useEffect(() => {
    setScenarios(undefined);
    if (isReady()) void read.run();
  }, [where.value, enrolledAs.value]);
  return scenarios;
}

function Play() {
  const [reference, setReference] = useState<string | undefined>();
  const scenarios = useScenarios();
  useEffect(() => setReference(undefined), [where.value, enrolledAs.value]);
  const followed = useFollowed(reference);
  return (
    <div class="play">
      <section class="section" aria-label={words.pay}>
        <ChooseGateway />
        {!isReady() ? null : scenarios === undefined ? <Loading /> : <Form scenarios={scenarios} onPaid={setReference} />}
      </section>
      <section class="section" aria-label={words.trace}>
        <h2>{words.trace}</h2>
        {followed === undefined ? <p class="note">{words.none}</p> : <Shown {...followed} />}
      </section>
    </div>
  );
}

function Form({ scenarios, onPaid }: { scenarios: readonly Scenario[]; onPaid: (reference: string) => void }) {
  const [to, setTo] = useState(scenarios.find((one) => one.to === asked)?.to ?? FIRST);
  const [amount, setAmount] = useState("24.90");
  const [reference, setReference] = useState(freshReference);
  const pay = useAct(async () => {
    await (await chosen()).create({ amount, currency: "EUR", to, reference });
    onPaid(reference);
    setReference(freshReference());
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void pay.run();
      }}
    >
      <SelectField
        label={words.payee}
        value={to}
        choices={scenarios.map((one) => ({ value: one.to, label: one.to }))}
        hint={capital(scenarios.find((one) => one.to === to)?.description ?? "")}
        onValue={setTo}
      />
      <TextField
        label={`${words.amount} (EUR)`}
        value={amount}
        inputMode="decimal"
        error={errorOf(pay.problem, "/amount")}
        onValue={setAmount}
      />
      <TextField label={words.reference} value={reference} error={errorOf(pay.problem, "/reference")} onValue={setReference} />
      <Button type="submit" kind="primary" busy={pay.busy}>
        {pay.busy ? words.paying : words.pay}
      </Button>
      {pay.problem === undefined ? null : <Problem problem={pay.problem} />}
    </form>
  );
}

function Shown({ settlement, events }: Followed) {
  const { reference, status, amount, currency, provider, attempts, to } = settlement;
  const act = (work: (gateway: Gateway) => Promise<unknown>) => async () => work(await chosen());
  const advance = useAct(act((gateway) => gateway.setClock({ advance_ms: AHEAD_MS })));
  const reverse = useAct(act((gateway) => gateway.reverse(reference)));
  const problem = advance.problem ?? reverse.problem;
  const result = useRef<HTMLDivElement>(null);
  return (
    <div class="result" ref={result}>
      <Facts
        rows={[
          [words.status, <Badge tone={toneOf(status)}>{status.replaceAll("_", " ")}</Badge>],
          [words.payee, <code>{to}</code>],
          [words.amount, money(amount, currency)],
          [words.provider, <code>{provider}</code>],
          [words.attempts, String(attempts)],
        ]}
      />
      <Trace events={events} />
      <p class="actions">
        {REVERSIBLE.has(status) ? (
          <Button busy={reverse.busy} onClick={() => void reverse.run()}>
            {words.reverse}
          </Button>
        ) : null}
        <Button icon="clock" busy={advance.busy} onClick={() => void advance.run()}>
          {words.advance}
        </Button>
      </p>
      {problem === undefined ? null : <Problem problem={problem} />}
    </div>
  );
}

export function start(at: HTMLElement): void {
  render(<Play />, at);
}
