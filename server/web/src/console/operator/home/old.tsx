/** What is getting old: payments without an outcome, and what the servers have not got to. */

import { count } from "../../../shared/format";
import { text } from "../../../shared/text";
import { Time } from "../../../shared/ui/values";
import { Ask, Asks, atLeast } from "./ask";
import type { Picture } from "./picture";

const words = text.operator.home;

/** What is due waits for a moment under load; longer is a sign that something stands still. */
const LATE_MS = 60_000;

export function Old({ picture }: { picture: Picture }) {
  const { unknown, open, oldBefore, now } = picture;
  const { outbox_due, outbox_due_since, webhooks_due, commits_to_number } = now.queues;
  const late = outbox_due_since !== null && outbox_due_since !== undefined && Date.now() - Date.parse(outbox_due_since) > LATE_MS;
  return (
    <>
      <Asks
        none={words.nothingOld}
        lines={[
          unknown.data.length > 0 && (
            <Ask
              key="unknown"
              tone="wait"
              count={atLeast(unknown.data.length, unknown.more)}
              what={words.unknown(unknown.data.length)}
              to="/settlements"
              query={{ status: "unknown", created_to: oldBefore }}
            />
          ),
          open.data.length > 0 && (
            <Ask
              key="open"
              tone="accent"
              count={atLeast(open.data.length, open.more)}
              what={words.open(open.data.length)}
              to="/settlements"
              query={{ status: ["accepted", "submitted"], created_to: oldBefore }}
            />
          ),
          late && (
            <Ask key="outbox" tone="bad" count={count(outbox_due)} what={words.outbox(outbox_due)} to="/providers">
              {words.since} <Time at={outbox_due_since ?? ""} />
            </Ask>
          ),
        ]}
      />
      <dl class="queues">
        <Figure name={words.callsDue} value={outbox_due} />
        <Figure name={words.webhooksDue} value={webhooks_due} />
        <Figure name={words.eventsDue} value={commits_to_number} />
      </dl>
    </>
  );
}

function Figure({ name, value }: { name: string; value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">{count(value)}</dd>
    </div>
  );
}
