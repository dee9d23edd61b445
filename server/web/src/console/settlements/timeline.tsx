/** The trace of a settlement as a timeline: what happened, who caused it, and what became of the money. */

import type { Settlement, SettlementEvent } from "railgate/client";
import { money } from "../../shared/format";
import { text } from "../../shared/text";
import { Time, type Tone } from "../../shared/ui/values";

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
      return words.returnedMoney(money(settlement.amount, settlement.currency));
    default:
      return undefined;
  }
}

/** What an event says besides its type, as names and values. */
function details(event: SettlementEvent): readonly (readonly [string, string])[] {
  const flat = (value: object, prefix = ""): [string, string][] =>
    Object.entries(value).flatMap(([name, inner]) =>
      typeof inner === "object" && inner !== null ? flat(inner as object, `${prefix}${name}.`) : [[(prefix + name).replaceAll("_", " "), String(inner)]],
    );
  return flat(event.data as object);
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
              {details(event).map(([name, value]) => (
                <span key={name}>
                  {name} <code>{value}</code>
                </span>
              ))}
            </p>
          </li>
        );
      })}
    </ol>
  );
}
