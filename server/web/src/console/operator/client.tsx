/** One client: its keys, money and terms, and what an operator does about them. */

import { useSignal } from "@preact/signals";
import type { Key, Operators } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Shown } from "../../shared/ui/feedback";
import { Page, Section } from "../../shared/ui/page";
import { KeyBadge } from "../../shared/ui/states";
import { type Column, Table } from "../../shared/ui/table";
import { Badge, Copy, Facts, Time } from "../../shared/ui/values";
import { useData } from "../data";
import { href } from "../router";
import { api } from "../session";
import type { ViewProps } from "../views";
import { Act, Waiting, WATCHED, useWaiting } from "./act";
import { ModeBadge } from "./badges";
import { ClientBadges } from "./clients";
import { Money } from "./clients/money";
import { Terms } from "./clients/terms";
import { useMay } from "./people";

type Client = Operators.ClientDetail;

const words = text.operator.clients;

export default function ClientPage({ params }: ViewProps) {
  const id = params["id"] ?? "";
  const data = useData((signal) => api.value.call("GET", "/operator/clients/{id}", { params: { id }, signal }), ["client", id], WATCHED);
  const waiting = useWaiting(id);
  const reload = (): void => {
    data.reload();
    waiting.reload();
  };
  const found = data.value;
  const may = useMay("agent");
  return (
    <Page
      title={found === undefined ? words.one : found.name === "" ? found.client_id : found.name}
      about={found === undefined ? undefined : <ClientBadges client={found} />}
      actions={found !== undefined && may ? <Standing client={found} onDone={reload} /> : undefined}
    >
      <Waiting of={waiting} />
      <Shown data={data}>
        {(client) => (
          <>
            <div class="split">
              <Section title={words.facts}>
                <ClientFacts client={client} />
              </Section>
              <Money client={client} may={may} onDone={reload} />
            </div>
            <Keys client={client} may={may} onDone={reload} />
            <Terms client={client} may={may} onDone={reload} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function ClientFacts({ client }: { client: Client }) {
  const { place } = client;
  return (
    <>
      <Facts
        rows={[
          [words.id, <Copy value={client.client_id} />],
          [words.columns.since, <Time at={client.created_at} full />],
          ...(place ? [[words.place, `${place.state}: ${place.url}`] as const] : []),
        ]}
      />
      <p class="links">
        <a href={href("/settlements", { client: client.client_id })}>{words.itsSettlements}</a>
        <a href={href("/audit", { client: client.client_id })}>{words.itsAudit}</a>
      </p>
    </>
  );
}

/** Suspending a client, and ending that. */
function Standing({ client, onDone }: { client: Client; onDone: () => void }) {
  // What the dialog asks stays, whatever somebody else does with the client meanwhile.
  const open = useSignal<"resume" | "suspend" | undefined>(undefined);
  const offered = client.suspended ? "resume" : "suspend";
  const chosen = open.value;
  return (
    <>
      <Button kind={client.suspended ? "primary" : "danger"} onClick={() => (open.value = offered)}>
        {words[offered].act}
      </Button>
      {chosen === undefined ? null : (
        <Act
          title={words[chosen].title(client.name)}
          what={words[chosen].what}
          rule="alone"
          act={words[chosen].act}
          danger={chosen === "suspend"}
          run={(reason, idempotencyKey) =>
            api.value.call("POST", `/operator/clients/{id}/${chosen}`, {
              params: { id: client.client_id },
              body: { reason },
              idempotencyKey,
            })
          }
          done={words[chosen].done}
          onDone={onDone}
          onClose={() => (open.value = undefined)}
        />
      )}
    </>
  );
}

const KEY_COLUMNS: readonly Column<Key>[] = [
  { name: words.key, cell: ({ key_id }) => <Copy value={key_id} shown={`${key_id.slice(0, 12)}…`} /> },
  {
    name: words.columns.status,
    cell: ({ status, environment }) => (
      <span class="badges">
        <KeyBadge status={status} />
        <ModeBadge sandbox={environment === "sandbox"} />
      </span>
    ),
  },
  { name: words.label, cell: ({ label }) => label ?? "–" },
  { name: words.columns.since, cell: ({ created_at }) => <Time at={created_at} /> },
];

function Keys({ client, may, onDone }: { client: Client; may: boolean; onDone: () => void }) {
  const approving = useSignal<string | undefined>(undefined);
  const approves: readonly Column<Key>[] = [
    {
      name: words.act,
      cell: ({ key_id, status }) =>
        status === "pending" ? <Button onClick={() => (approving.value = key_id)}>{words.approve.act}</Button> : null,
    },
  ];
  const asked = may && client.keys.some(({ status }) => status === "pending");
  return (
    <Section title={words.keys}>
      <Table
        caption={words.keys}
        columns={asked ? [...KEY_COLUMNS, ...approves] : KEY_COLUMNS}
        rows={client.keys}
        id={({ key_id }) => key_id}
      />
      {client.keys.length === 0 ? <Badge>{text.none}</Badge> : null}
      {approving.value === undefined ? null : (
        <Act
          title={words.approve.title(client.name)}
          what={words.approve.what(approving.value)}
          rule="access"
          act={words.approve.act}
          run={(reason, idempotencyKey) =>
            api.value.call("POST", "/operator/clients/{id}/approve", {
              params: { id: client.client_id },
              body: { reason, key: approving.value ?? null },
              idempotencyKey,
            })
          }
          done={words.approve.done}
          onDone={onDone}
          onClose={() => (approving.value = undefined)}
        />
      )}
    </Section>
  );
}
