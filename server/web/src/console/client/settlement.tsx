/** A settlement: what it is, what happened, and what can be done about it. */

import { useSignal } from "@preact/signals";
import type { AdvanceRequest, ReconcileResult, Reversal, Settlement } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Dialog } from "../../shared/ui/dialog";
import { Problem, Shown } from "../../shared/ui/feedback";
import { SelectField } from "../../shared/ui/field";
import { Icon } from "../../shared/ui/icon";
import { Page, Section } from "../../shared/ui/page";
import { ReversalBadge, SettlementBadge } from "../../shared/ui/states";
import { Table } from "../../shared/ui/table";
import { Badge, Money, Time } from "../../shared/ui/values";
import { useAct, useData } from "../data";
import { useCommands } from "../keyboard";
import { api, session } from "../session";
import { SettlementFacts } from "../settlements/facts";
import { isPaid } from "../settlements/paid";
import { Timeline } from "../settlements/timeline";
import type { ViewProps } from "../views";
import { DeliveriesOf } from "./deliveries-of";
import { ProofSection } from "./proof";
import { ReceiptSection } from "./receipt";
import { Reverse, canReverse, reverseLabel } from "./reverse";

const words = text.settlement;

/** The most events that are shown; a settlement has some tens. */
const EVENTS = 200;

export default function SettlementPage({ params }: ViewProps) {
  const ref = params["ref"] ?? "";
  const client = api.value;
  const data = useData(
    (signal) =>
      Promise.all([client.get(ref, { signal }), client.events(ref, { limit: EVENTS, signal }), client.reversals(ref, { signal })]),
    [ref],
    { on: ({ settlement_id, reference }) => settlement_id === ref || reference === ref },
  );
  if (data.value === undefined) {
    return (
      <Page title={ref}>
        <Shown data={data}>{() => null}</Shown>
      </Page>
    );
  }
  const [settlement, events, reversals] = data.value;
  return (
    <Page
      title={settlement.reference}
      about={<About settlement={settlement} />}
      actions={<Acts settlement={settlement} reload={data.reload} />}
    >
      {data.problem === undefined ? null : <Problem problem={data.problem} retry={data.reload} />}
      {settlement.needs_review ? (
        <p class="verdict wait">
          <Icon name="warn" />
          {words.review}
        </p>
      ) : null}
      <div class="detail">
        <Section title={words.timeline} note={words.timelineNote}>
          <Timeline events={events.data} settlement={settlement} />
        </Section>
        <Section title={words.facts}>
          <SettlementFacts settlement={settlement} />
        </Section>
      </div>
      {settlement.sandbox && settlement.direction === "outgoing" && isOpen(settlement) ? <Advance settlement={settlement} /> : null}
      <Reversals settlement={settlement} reversals={reversals} />
      <ReceiptSection settlement={settlement} />
      <DeliveriesOf settlement={settlement} />
      {isPaid(settlement) ? <ProofSection settlement={settlement} /> : null}
    </Page>
  );
}

const isOpen = ({ status }: Settlement): boolean => ["accepted", "submitted", "unknown", "completed"].includes(status);

function About({ settlement }: { settlement: Settlement }) {
  return (
    <span class="badges">
      <SettlementBadge status={settlement.status} />
      {settlement.direction === "incoming" ? <Badge>{text.states.direction.incoming}</Badge> : null}
      {settlement.needs_review ? <Badge tone="wait">{text.settlements.review}</Badge> : null}
    </span>
  );
}

function Acts({ settlement, reload }: { settlement: Settlement; reload: () => void }) {
  const reversing = useSignal(false);
  const result = useSignal<ReconcileResult | undefined>(undefined);
  const check = useAct(async () => {
    result.value = await api.value.reconcile(settlement.id);
    reload();
  });
  const can = canReverse(settlement);
  const label = reverseLabel(settlement);
  useCommands([
    { label: words.check, icon: "refresh", run: () => void check.run() },
    ...(can ? [{ label, icon: "previous", run: () => void (reversing.value = true) } as const] : []),
  ]);
  return (
    <>
      <Button icon="refresh" busy={check.busy} onClick={() => void check.run()}>
        {words.check}
      </Button>
      {can ? (
        <Button kind="danger" onClick={() => (reversing.value = true)}>
          {label}
        </Button>
      ) : null}
      {reversing.value ? <Reverse settlement={settlement} onClose={() => (reversing.value = false)} onDone={reload} /> : null}
      {check.problem === undefined && result.value === undefined ? null : (
        <Dialog
          title={words.check}
          onClose={() => {
            result.value = undefined;
            check.clear();
          }}
        >
          {check.problem === undefined ? null : <Problem problem={check.problem} reads />}
          {result.value === undefined ? null : <Checked result={result.value} />}
        </Dialog>
      )}
    </>
  );
}

function Checked({ result }: { result: ReconcileResult }) {
  if (result.consistent) {
    return (
      <p class="verdict good">
        <Icon name="check" />
        {words.checkConsistent}
      </p>
    );
  }
  return (
    <>
      <p class="verdict bad">
        <Icon name="warn" />
        {words.checkFindings}
      </p>
      <ul>
        {result.findings.map(({ code, message }) => (
          <li key={code + message}>
            <code>{code}</code> {message}
          </li>
        ))}
      </ul>
    </>
  );
}

function Reversals({ settlement, reversals }: { settlement: Settlement; reversals: readonly Reversal[] }) {
  const names = words.reversalColumns;
  return (
    <Section title={words.reversals}>
      {reversals.length === 0 ? (
        <p class="note">{words.noReversals}</p>
      ) : (
        <Table
          caption={words.reversals}
          rows={reversals}
          id={({ id }) => id}
          columns={[
            { name: names.id, cell: ({ id, reference }) => reference ?? id },
            { name: names.amount, number: true, cell: ({ amount }) => <Money amount={amount} currency={settlement.currency} /> },
            { name: names.status, cell: ({ status }) => <ReversalBadge status={status} /> },
            {
              name: names.reason,
              cell: ({ reason, failure }) => (failure === null ? (reason === null ? "" : text.states.reason[reason]) : failure.message),
            },
            { name: names.created, cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
        />
      )}
    </Section>
  );
}

/** Which decisions fit a state: the simulator refuses others. */
const FITTING: Partial<Record<Settlement["status"], readonly AdvanceRequest["to"][]>> = {
  accepted: ["submitted", "unknown", "completed", "failed"],
  submitted: ["completed", "failed", "unknown"],
  unknown: ["completed", "failed"],
  completed: ["returned"],
};

function Advance({ settlement }: { settlement: Settlement }) {
  const fitting = FITTING[settlement.status] ?? [];
  const chosen = useSignal<AdvanceRequest["to"] | undefined>(undefined);
  const to = chosen.value !== undefined && fitting.includes(chosen.value) ? chosen.value : fitting[0];
  const act = useAct(async () => {
    if (to !== undefined) await api.value.advance(settlement.id, { to });
  });
  if (to === undefined || session.value?.identity.environment !== "sandbox") return null;
  return (
    <Section title={words.advance} note={words.advanceNote}>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault();
          void act.run();
        }}
      >
        <SelectField
          label={words.advanceTo}
          value={to}
          choices={fitting.map((value) => ({ value, label: text.states.settlement[value] }))}
          onValue={(value) => (chosen.value = value)}
        />
        <Button type="submit" busy={act.busy}>
          {words.advanceRun}
        </Button>
      </form>
      {act.problem === undefined ? null : <Problem problem={act.problem} />}
    </Section>
  );
}
