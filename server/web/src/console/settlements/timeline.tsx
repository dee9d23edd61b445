/** The trace of a settlement as a timeline: what happened, who caused it, and what became of the money. */

import type { Settlement, SettlementEvent } from "railgate/client";
import { minus } from "../../shared/decimal";
import { money, worded } from "../../shared/format";
import { text } from "../../shared/text";
import { Money, Time, type Tone } from "../../shared/ui/values";
import { ProviderName } from "../names";

const words = text.settlement;

const TONES: Partial<Record<SettlementEvent["type"], Tone>> = {
  "settlement.unknown": "wait",
  "settlement.completed": "good",
  "settlement.failed": "bad",
  "settlement.returned": "bad",
  "settlement.discrepancy": "bad",
  "reversal.unknown": "wait",
  "reversal.completed": "good",
  "reversal.failed": "bad",
  "approval.requested": "wait",
  "approval.declined": "bad",
};

/** What an event did to the money of the client. */
function moved(event: SettlementEvent, settlement: Settlement): string | undefined {
  const whole = money(settlement.total_debit, settlement.currency);
  switch (event.type) {
    case "settlement.accepted":
      return words.hold(whole);
    case "settlement.completed":
      return words.posted(whole);
    case "settlement.failed":
    case "settlement.cancelled":
      return words.released(whole);
    case "settlement.returned":
      // What was reversed before is back already.
      return words.returnedMoney(money(minus(settlement.amount, settlement.reversed_amount), settlement.currency));
    default:
      return undefined;
  }
}

/** Words for the values of some members. */
const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  answer: text.states.answer,
  code: text.states.failure,
  reason: { ...text.states.review, ...text.states.reason, ...words.cancelled },
  resolution: text.states.resolution,
};
const AMOUNTS: ReadonlySet<string> = new Set(["amount", "fee"]);
/** What one compares with other records, letter by letter. */
const VERBATIM: ReadonlySet<string> = new Set(["rail_code", "rail_reference", "reversal", "device"]);

function Value({ name, value, currency }: { name: string; value: unknown; currency: string }) {
  const shown = String(value);
  if (name === "provider") return <ProviderName id={shown} />;
  if (AMOUNTS.has(name)) return <Money amount={shown} currency={currency} />;
  if (typeof value === "boolean") return <>{value ? text.yes : text.no}</>;
  return VERBATIM.has(name) ? <code>{shown}</code> : <>{VALUES[name]?.[shown] ?? shown}</>;
}

/** What an event says besides its type. */
function Details({ event, currency }: { event: SettlementEvent; currency: string }) {
  const members = Object.entries(event.data as object).filter(([name, value]) => name !== "currency" && value !== null);
  return (
    <>
      {members.map(([name, value]) => (
        <span key={name} title={name}>
          {words.details[name] ?? worded(name)}: <Value name={name} value={value} currency={currency} />
        </span>
      ))}
    </>
  );
}

export function Timeline({ events, settlement }: { events: readonly SettlementEvent[]; settlement: Settlement }) {
  return (
    <ol class="timeline">
      {events.map((event) => {
        const change = moved(event, settlement);
        return (
          <li key={event.id} class={TONES[event.type] ?? "idle"}>
            <div class="timeline-head">
              <strong>{text.states.event[event.type] ?? event.type}</strong>
              {change === undefined ? null : <span class="number">{change}</span>}
              <span class="grow" />
              <Time at={event.at} full />
            </div>
            <p class="timeline-facts">
              <span>{words.sequence(event.sequence)}</span>
              <span>{words.by(text.states.actor[event.actor] ?? event.actor)}</span>
              {event.attempt === null ? null : <span>{words.attempt(event.attempt)}</span>}
              <Details event={event} currency={settlement.currency} />
            </p>
          </li>
        );
      })}
    </ol>
  );
}
