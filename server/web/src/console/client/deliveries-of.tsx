/** What webhooks were told about one settlement: the newest deliveries of each that carry one of its events. */

import type { Delivery, Settlement, Webhook } from "railgate/client";
import { text } from "../../shared/text";
import { Shown } from "../../shared/ui/feedback";
import { Section } from "../../shared/ui/page";
import { DeliveryBadge } from "../../shared/ui/states";
import { Table } from "../../shared/ui/table";
import { Time } from "../../shared/ui/values";
import { useData } from "../data";
import { href } from "../router";
import { api } from "../session";

const words = text.settlement;

/** How many of each are shown, and how often they are read while the page is open. */
const LIMIT = 50;
const EVERY_MS = 5_000;

type Told = Delivery & { readonly webhook: Webhook };

export function DeliveriesOf({ settlement: { id, version } }: { settlement: Settlement }) {
  const client = api.value;
  const read = async (signal: AbortSignal): Promise<readonly Told[]> => {
    const webhooks = await client.webhooks.list({ signal });
    const pages = await Promise.all(
      webhooks.map(async (webhook) => {
        const { data } = await client.webhooks.deliveries(webhook.id, { settlement: id, limit: LIMIT }, { signal });
        return data.map((delivery) => ({ ...delivery, webhook }));
      }),
    );
    return pages.flat();
  };
  const data = useData(read, [id, version], { on: false, everyMs: EVERY_MS });
  const names = words.deliveryColumns;
  return (
    <Section title={words.webhooks}>
      <Shown data={data}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <p class="note">{words.noWebhooks}</p>
          ) : (
            <Table
              caption={words.webhooks}
              rows={deliveries}
              id={({ id }) => id}
              to={({ webhook }) => href(`/webhooks/${webhook.id}`)}
              columns={[
                { name: names.type, cell: ({ type }) => <code>{type}</code> },
                { name: names.status, cell: ({ status }) => <DeliveryBadge status={status} /> },
                { name: names.attempts, number: true, cell: ({ attempts }) => attempts },
                { name: names.last, cell: ({ last_attempt }) => (last_attempt === null ? "" : <Time at={last_attempt.at} />) },
                { name: names.webhook, cell: ({ webhook }) => webhook.url },
              ]}
            />
          )
        }
      </Shown>
    </Section>
  );
}
