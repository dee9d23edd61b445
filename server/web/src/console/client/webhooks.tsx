import { useSignal } from "@preact/signals";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Empty, Shown } from "../../shared/ui/feedback";
import { Page } from "../../shared/ui/page";
import { WebhookBadge } from "../../shared/ui/states";
import { Table } from "../../shared/ui/table";
import { Time } from "../../shared/ui/values";
import { useData } from "../data";
import { href } from "../router";
import { secret } from "../secret";
import { api } from "../session";
import { WebhookForm } from "./webhook-form";

const words = text.webhooks;

export default function Webhooks() {
  const client = api.value;
  const making = useSignal(false);
  const data = useData((signal) => client.webhooks.list({ signal }), [client.keyId], { on: false, everyMs: 15_000 });
  const make = (
    <Button kind="primary" icon="plus" onClick={() => (making.value = true)}>
      {words.new}
    </Button>
  );
  return (
    <Page title={words.title} actions={make}>
      <p class="note">{words.intro}</p>
      <Shown data={data}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty title={words.empty}>{make}</Empty>
          ) : (
            <div class="section flush">
              <Table
                caption={words.caption}
                rows={webhooks}
                id={({ id }) => id}
                to={({ id }) => href(`/webhooks/${id}`)}
                columns={[
                  { name: words.columns.url, cell: ({ url, description }) => <Named url={url} description={description} /> },
                  { name: words.columns.status, cell: ({ status }) => <WebhookBadge status={status} /> },
                  { name: words.columns.events, cell: ({ all_events, events }) => (all_events ? words.all : String(events.length)) },
                  { name: words.columns.created, cell: ({ created_at }) => <Time at={created_at} /> },
                ]}
              />
            </div>
          )
        }
      </Shown>
      {making.value ? (
        <WebhookForm
          title={words.new}
          act={words.create}
          onClose={() => (making.value = false)}
          onSave={async (request, idempotencyKey) => {
            secret.value = (await client.webhooks.create(request, { idempotencyKey })).secret ?? "";
            data.reload();
          }}
        />
      ) : null}
    </Page>
  );
}

function Named({ url, description }: { url: string; description: string | null }) {
  return (
    <>
      <strong>{url}</strong>
      {description === null ? null : <span class="below">{description}</span>}
    </>
  );
}
