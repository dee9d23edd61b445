/** A webhook: what it gets, what became of it, and what can be done. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Delivery, DeliveryStatus, Webhook } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Confirm } from "../../shared/ui/dialog";
import { Empty, Problem, Shown } from "../../shared/ui/feedback";
import { SelectField } from "../../shared/ui/field";
import { Page, Section } from "../../shared/ui/page";
import { DeliveryBadge, WebhookBadge } from "../../shared/ui/states";
import { Table } from "../../shared/ui/table";
import { Copy, Facts, Time } from "../../shared/ui/values";
import { useAct, useData, useKeyedAct } from "../data";
import { pageSize, usePages } from "../paging";
import { go, href, query, refine } from "../router";
import { secret } from "../secret";
import { api } from "../session";
import type { ViewProps } from "../views";
import { ReplayDialog, TestDialog } from "./webhook-acts";
import { WebhookForm } from "./webhook-form";

const words = text.webhooks;
const EVERY_MS = 5_000;

type Asked = "edit" | "disable" | "remove" | "rotate" | "test" | "replay";

export default function WebhookPage({ params }: ViewProps) {
  const id = params["id"] ?? "";
  const data = useData((signal) => api.value.webhooks.get(id, { signal }), [id], { on: false, everyMs: EVERY_MS });
  const acted = useSignal(0);
  if (data.value === undefined) {
    return (
      <Page title={id}>
        <Shown data={data}>{() => null}</Shown>
      </Page>
    );
  }
  const webhook = data.value;
  const reload = (): void => {
    data.reload();
    acted.value++;
  };
  return (
    <Page title={webhook.url} about={<WebhookBadge status={webhook.status} />} actions={<Acts webhook={webhook} reload={reload} />}>
      {data.problem === undefined ? null : <Problem problem={data.problem} retry={data.reload} />}
      <Section title={words.about}>
        <Facts
          rows={[
            [words.id, <Copy key="id" value={webhook.id} />],
            ...(webhook.description === null ? [] : ([[words.description, webhook.description]] as const)),
            [words.events, webhook.all_events ? words.all : webhook.events.join(", ")],
            [words.created, <Time key="created" at={webhook.created_at} full />],
            [words.updated, <Time key="updated" at={webhook.updated_at} full />],
            ...(webhook.failing_since === null ? [] : ([[words.failing, <Time key="failing" at={webhook.failing_since} full />]] as const)),
          ]}
        />
      </Section>
      <Deliveries id={webhook.id} acted={acted.value} />
    </Page>
  );
}

function Acts({ webhook, reload }: { webhook: Webhook; reload: () => void }) {
  const { id, status } = webhook;
  const { webhooks } = api.value;
  const asked = useSignal<Asked | undefined>(undefined);
  const close = () => {
    asked.value = undefined;
    reload();
  };
  const enabling = useAct(async () => {
    await webhooks.enable(id);
    reload();
  });
  const open = (name: Asked) => () => (asked.value = name);
  return (
    <>
      <Button onClick={open("test")}>{words.test}</Button>
      <Button onClick={open("replay")}>{words.replay}</Button>
      <Button onClick={open("rotate")}>{words.rotate}</Button>
      <Button onClick={open("edit")}>{words.edit}</Button>
      {status === "enabled" || status === "failing" ? (
        <Button onClick={open("disable")}>{words.disable}</Button>
      ) : (
        <Button busy={enabling.busy} onClick={() => void enabling.run()}>
          {words.enable}
        </Button>
      )}
      <Button kind="danger" onClick={open("remove")}>
        {words.remove}
      </Button>
      {asked.value === "test" ? <TestDialog id={id} onClose={close} /> : null}
      {asked.value === "replay" ? <ReplayDialog id={id} onClose={close} /> : null}
      {asked.value === "edit" ? (
        <WebhookForm
          title={words.editTitle}
          act={text.save}
          webhook={webhook}
          onClose={close}
          onSave={(change, idempotencyKey) => webhooks.update(id, change, { idempotencyKey })}
        />
      ) : null}
      {asked.value === "disable" ? (
        <Ask
          title={words.disableTitle}
          what={words.disableWhat}
          act={words.disable}
          run={(idempotencyKey) => webhooks.update(id, { enabled: false }, { idempotencyKey })}
          onClose={close}
        />
      ) : null}
      {asked.value === "rotate" ? (
        <Ask
          title={words.rotateTitle}
          what={words.rotateWhat}
          act={words.rotateAct}
          onClose={close}
          run={async (idempotencyKey) => {
            secret.value = (await webhooks.rotate(id, {}, { idempotencyKey })).secret ?? "";
          }}
        />
      ) : null}
      {asked.value === "remove" ? (
        <Ask
          title={words.removeTitle}
          what={words.removeWhat(webhook.url)}
          act={words.remove}
          onClose={close}
          run={async () => {
            await webhooks.remove(id);
            go(href("/webhooks"));
          }}
        />
      ) : null}
    </>
  );
}

interface AskProps {
  readonly title: string;
  readonly what: string;
  readonly act: string;
  readonly run: (idempotencyKey: string) => Promise<unknown>;
  readonly onClose: () => void;
}

function Ask({ title, what, act, run, onClose }: AskProps) {
  const acting = useKeyedAct(run);
  return (
    <Confirm
      title={title}
      what={what}
      act={act}
      busy={acting.busy}
      problem={acting.problem}
      onClose={onClose}
      onConfirm={() => void acting.run().then((done) => done && onClose())}
    />
  );
}

const STATUSES: readonly DeliveryStatus[] = ["pending", "delivered", "failed"];

/** `acted` counts what may have made deliveries. */
function Deliveries({ id, acted }: { id: string; acted: number }) {
  const given = query.value.get("status") ?? "";
  const status = STATUSES.find((one) => one === given);
  const cursor = query.value.get("cursor") ?? "";
  const filter = { limit: pageSize(), ...(status === undefined ? {} : { status }), ...(cursor === "" ? {} : { cursor }) };
  const read = (signal: AbortSignal) => api.value.webhooks.deliveries(id, filter, { signal });
  const data = useData(read, [id, status, cursor], { on: false, everyMs: EVERY_MS });
  useEffect(() => void (acted > 0 && data.reload()), [acted]);
  const pages = usePages(data.value?.next_cursor, `${id} ${status ?? ""}`);
  return (
    <Section
      title={words.deliveries}
      actions={
        <SelectField
          label={words.deliveryStatus}
          value={status ?? ""}
          choices={[{ value: "", label: text.all }, ...STATUSES.map((value) => ({ value, label: text.states.delivery[value] }))]}
          onValue={(value) => refine({ status: value })}
        />
      }
    >
      <Shown data={data}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty title={words.noDeliveries} />
          ) : (
            <Table
              caption={words.deliveries}
              rows={page.data}
              id={(delivery) => delivery.id}
              to={(delivery) => href(`/webhooks/${id}/deliveries/${delivery.id}`)}
              columns={COLUMNS}
              pages={pages}
            />
          )
        }
      </Shown>
    </Section>
  );
}

const names = words.deliveryColumns;
const COLUMNS = [
  { name: names.type, cell: ({ type }: Delivery) => <code>{type}</code> },
  { name: names.status, cell: ({ status }: Delivery) => <DeliveryBadge status={status} /> },
  { name: names.cause, cell: ({ cause }: Delivery) => text.states.cause[cause] },
  { name: names.attempts, number: true, cell: ({ attempts }: Delivery) => attempts },
  { name: names.last, cell: ({ last_attempt }: Delivery) => (last_attempt === null ? "" : (last_attempt.status ?? last_attempt.error)) },
  { name: names.created, cell: ({ created_at }: Delivery) => <Time at={created_at} /> },
];
