/** What comparisons with a provider's statements found. */

import type { Operators } from "railgate/client";
import { date, money } from "../../../shared/format";
import { text } from "../../../shared/text";
import { type Column, type Pages, Table } from "../../../shared/ui/table";
import { Badge } from "../../../shared/ui/values";
import { href } from "../../router";
import { StateBadge } from "../badges";

type Finding = Operators.StatementFinding;

const words = text.operator.findings;

/** A line of a statement, as it says it. */
function Line({ line }: { line: Finding["line"] }) {
  if (line === null || line === undefined) return <>{words.noLine}</>;
  const said = [line.participant, line.references.join(" "), line.entry, line.text];
  return (
    <span class="beside">
      {words.line(line.line)}: {money(line.amount, line.currency)}, {text.states.direction[line.direction].toLowerCase()}, {date(line.booked_at)}
      <small>{said.filter((part) => part !== null && part !== undefined && part !== "").join(" · ")}</small>
    </span>
  );
}

/** What is recorded here: the amount, and what waits. */
function Here({ finding }: { finding: Finding }) {
  const { amount, currency, status, waits } = finding;
  return (
    <span class="badges">
      {amount && currency ? money(amount, currency) : words.notKnown}
      {status === null || status === undefined ? null : <StateBadge status={status} />}
      {waits ? <Badge tone="wait">{text.settlements.review}</Badge> : null}
    </span>
  );
}

const COLUMNS: readonly Column<Finding>[] = [
  { name: words.columns.kind, cell: ({ kind }) => words.kinds[kind] },
  { name: words.columns.there, cell: ({ line }) => <Line line={line} /> },
  { name: words.columns.here, cell: (finding) => <Here finding={finding} /> },
  {
    name: words.columns.match,
    cell: ({ matched_by, confidence }) => (matched_by ? words.matched(words.by[matched_by], confidence) : words.unmatched),
  },
  {
    name: words.columns.settlement,
    cell: ({ settlement_id, reference, reversal }) =>
      settlement_id ? (
        <a href={href(`/settlements/${settlement_id}`)}>
          {reversal === null || reversal === undefined ? reference : text.operator.reviews.reversalOf(reversal, reference ?? settlement_id)}
        </a>
      ) : (
        "–"
      ),
  },
];

export function FindingTable({ caption, findings, pages }: { caption: string; findings: readonly Finding[]; pages?: Pages }) {
  return (
    <Table
      caption={caption}
      columns={COLUMNS}
      rows={findings}
      id={({ reconciliation_id, n }) => `${reconciliation_id} ${n}`}
      {...(pages === undefined ? {} : { pages })}
    />
  );
}
