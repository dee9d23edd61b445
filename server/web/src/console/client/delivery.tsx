/** One delivery: what was sent, and what the receiver said. */

import { duration } from "../../shared/format";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Problem, Shown, say } from "../../shared/ui/feedback";
import { Page, Section } from "../../shared/ui/page";
import { DeliveryBadge } from "../../shared/ui/states";
import { Copy, Facts, Time } from "../../shared/ui/values";
import { useData, useKeyedAct } from "../data";
import { go, href } from "../router";
import { api } from "../session";
import type { ViewProps } from "../views";

const words = text.webhooks;
const EVERY_MS = 5_000;

export default function DeliveryPage({ params }: ViewProps) {
  const { id = "", delivery = "" } = params;
  const { webhooks } = api.value;
  const data = useData((signal) => webhooks.delivery(id, delivery, { signal }), [id, delivery], { on: false, everyMs: EVERY_MS });
  const again = useKeyedAct(async (idempotencyKey) => {
    const made = await webhooks.redeliver(id, delivery, { idempotencyKey });
    say(words.redelivered);
    go(href(`/webhooks/${id}/deliveries/${made.id}`));
  });
  return (
    <Page
      title={words.delivery}
      about={data.value === undefined ? null : <DeliveryBadge status={data.value.status} />}
      actions={
        <>
          <a class="button plain" href={href(`/webhooks/${id}`)}>
            {words.back}
          </a>
          <Button kind="primary" icon="refresh" busy={again.busy} onClick={() => void again.run()}>
            {words.redeliver}
          </Button>
        </>
      }
    >
      {again.problem === undefined ? null : <Problem problem={again.problem} />}
      <Shown data={data}>
        {({ message_id, type, cause, attempts, created_at, next_attempt_at, last_attempt: last, payload }) => (
          <>
            <Section title={type}>
              <Facts
                rows={[
                  [words.message, <Copy key="message" value={message_id} />],
                  [words.deliveryColumns.cause, text.states.cause[cause]],
                  [words.attempts, String(attempts)],
                  [words.created, <Time key="created" at={created_at} full />],
                  ...(next_attempt_at === null ? [] : ([[words.nextAttempt, <Time key="next" at={next_attempt_at} full />]] as const)),
                  ...(last === null
                    ? []
                    : ([
                        [words.lastAttempt, <Time key="last" at={last.at} full />],
                        [words.testTook, duration(last.took_ms)],
                        [words.answer, last.status === null ? (last.error ?? "") : String(last.status)],
                      ] as const)),
                ]}
              />
              {last === null || last.response_excerpt === "" ? null : (
                <>
                  <h3>{words.excerpt}</h3>
                  <pre tabIndex={0}>{last.response_excerpt}</pre>
                </>
              )}
            </Section>
            <Section title={words.payload}>
              <pre tabIndex={0}>{JSON.stringify(payload, null, 2)}</pre>
            </Section>
          </>
        )}
      </Shown>
    </Page>
  );
}
