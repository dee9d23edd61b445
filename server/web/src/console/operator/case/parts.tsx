/** Everything that is known about a settlement, for a person who decides about it. */

import type { Operators, Settlement } from "railgate/client";
import { money } from "../../../shared/format";
import { text } from "../../../shared/text";
import { Empty } from "../../../shared/ui/feedback";
import { Section } from "../../../shared/ui/page";
import { ReversalBadge } from "../../../shared/ui/states";
import { Table } from "../../../shared/ui/table";
import { Badge, Copy, Facts, Time } from "../../../shared/ui/values";
import { ProviderName } from "../../names";
import { SettlementFacts } from "../../settlements/facts";
import { Timeline } from "../../settlements/timeline";
import { StateBadge } from "../badges";
import { ClientLink, ClientName, ProviderLink } from "../subjects";
import { FindingTable } from "./findings";

type Case = Operators.Case;

const words = text.operator.cases;

export function Known({ about }: { about: Case }) {
  const { settlement, attempts, findings, events } = about;
  return (
    <>
      {about.asked === null || about.asked === undefined ? null : <Asked answers={about.asked} />}
      {findings.length === 0 ? null : (
        <Section title={words.findings} note={words.findingsNote}>
          <FindingTable caption={words.findings} findings={findings} />
        </Section>
      )}
      <Section title={words.payment}>
        <SettlementFacts settlement={settlement} />
        <Owner settlement={settlement} />
      </Section>
      <Section title={words.attempts} note={words.attemptsNote}>
        {attempts.length === 0 ? <Empty title={words.noAttempts} /> : <Attempts attempts={attempts} />}
      </Section>
      {about.reversals.length === 0 ? null : (
        <Section title={words.reversals}>
          <Reversals about={about} />
        </Section>
      )}
      <Section title={words.money} note={words.moneyNote}>
        <Transfers about={about} />
      </Section>
      <Section title={text.settlement.timeline}>
        <Timeline events={events} settlement={settlement} />
      </Section>
    </>
  );
}

/** What only operators see of it: whose it is. */
function Owner({ settlement }: { settlement: Settlement }) {
  return (
    <Facts
      rows={[
        [words.client, <ClientLink id={settlement.client_id} />],
        [words.version, String(settlement.version)],
      ]}
    />
  );
}

/** What the provider said just now. */
function Asked({ answers }: { answers: readonly Operators.CaseAnswer[] }) {
  return (
    <div class="callout accent" role="status">
      <p class="callout-title">{words.askedTitle}</p>
      {answers.length === 0 ? <p>{words.askedNothing}</p> : null}
      <ul>
        {answers.map((one, n) => (
          <li key={n}>
            {one.reversal === null || one.reversal === undefined ? words.attempt(one.attempt ?? 1) : words.reversal(one.reversal)}:{" "}
            {words.answers[one.answer]} {one.code ? text.states.failure[one.code] : ""} {one.rail_code ?? ""} {one.rail_reference ?? ""}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Attempts({ attempts }: { attempts: readonly Operators.CaseAttempt[] }) {
  return (
    <Table
      caption={words.attempts}
      columns={[
        { name: words.columns.n, cell: ({ attempt }: Operators.CaseAttempt) => words.attempt(attempt) },
        { name: words.columns.provider, cell: ({ provider }) => <ProviderLink id={provider} /> },
        { name: words.columns.status, cell: ({ status }) => <StateBadge status={status} /> },
        { name: words.columns.sends, number: true, cell: ({ sends }) => sends },
        { name: words.columns.sent, cell: ({ started_at }) => <Time at={started_at} /> },
        {
          name: words.columns.answered,
          cell: ({ answered_at }) => (answered_at === null || answered_at === undefined ? "–" : <Time at={answered_at} />),
        },
      ]}
      rows={attempts}
      id={({ attempt }) => String(attempt)}
    />
  );
}

function Reversals({ about: { reversals, waiting } }: { about: Case }) {
  const waits = (id: string): boolean => waiting.some(({ reversal_id }) => reversal_id === id);
  return (
    <Table
      caption={words.reversals}
      columns={[
        { name: words.columns.reversal, cell: ({ id }: Case["reversals"][number]) => <Copy value={id} /> },
        { name: words.columns.amount, number: true, cell: ({ amount, currency }) => money(amount, currency) },
        {
          name: words.columns.status,
          cell: ({ id, status }) => (
            <span class="badges">
              <ReversalBadge status={status} />
              {waits(id) ? <Badge tone="wait">{words.waits}</Badge> : null}
            </span>
          ),
        },
        { name: words.columns.at, cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      rows={reversals}
      id={({ id }) => id}
    />
  );
}

/** Whose account it is: a client's, a provider's, or one of the gateway's own. */
function Account({ of }: { of: string }) {
  if (of.startsWith("cli_")) return <ClientName id={of} />;
  return of === "fees" || of === "funding" ? <>{words.accounts[of]}</> : <ProviderName id={of} />;
}

function Transfers({ about: { transfers, settlement } }: { about: Case }) {
  if (transfers.length === 0) return <Empty title={words.noTransfers} />;
  return (
    <Table
      caption={words.money}
      columns={[
        { name: words.columns.n, cell: ({ transfer }: Operators.CaseTransfer) => String(transfer) },
        {
          name: words.columns.what,
          cell: ({ kind, code, resolves }) =>
            `${words.codes[code]}, ${words.kinds[kind]}${resolves === null || resolves === undefined ? "" : ` ${words.ends(resolves)}`}`,
        },
        { name: words.columns.amount, number: true, cell: ({ amount }) => money(amount, settlement.currency) },
        { name: words.columns.debit, cell: ({ debit }) => <Account of={debit} /> },
        { name: words.columns.credit, cell: ({ credit }) => <Account of={credit} /> },
        { name: words.columns.at, cell: ({ at }) => <Time at={at} /> },
      ]}
      rows={transfers}
      id={({ transfer }) => String(transfer)}
    />
  );
}
