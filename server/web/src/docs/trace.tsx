/** The trace of a payment: each event as a sentence, with who caused it and when. */

import type { SettlementEvent } from "railgate";
import { docs } from "../shared/text/docs";
import type { Tone } from "../shared/ui/values";

const words = docs.play;

const TONES: Record<string, Tone> = {
  completed: "good",
  failed: "bad",
  declined: "bad",
  not_sent: "bad",
  cancelled: "idle",
  unknown: "wait",
  accepted: "accent",
  submitted: "accent",
  started: "accent",
};

/** The tone of a status or of an answer. */
export const toneOf = (state: string | null | undefined): Tone => TONES[state ?? ""] ?? "idle";

function sentence({ type, attempt, to, data }: SettlementEvent): string {
  const provider = (data as { provider?: string }).provider ?? "";
  if (type === "attempt.started") return words.attempt(attempt ?? 0, provider);
  if (type === "attempt.answered") return words.answered(attempt ?? 0, (to ?? "").replaceAll("_", " "));
  return words.events[type] ?? type;
}

const clock = new Intl.DateTimeFormat(navigator.languages, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});

export function Trace({ events }: { events: readonly SettlementEvent[] }) {
  return (
    <ol class="trace" aria-live="polite">
      {events.map((event) => (
        <li key={event.sequence} class={toneOf(event.to)} data-type={event.type}>
          <span>{sentence(event)}</span>
          <small>
            <time dateTime={event.at}>{clock.format(new Date(event.at))}</time> · {event.actor} · <code>{event.type}</code>
          </small>
        </li>
      ))}
    </ol>
  );
}
