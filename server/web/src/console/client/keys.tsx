/** The keys of the client, and asking for live access. */

import { useSignal } from "@preact/signals";
import type { Key } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Confirm } from "../../shared/ui/dialog";
import { Problem, Shown, say } from "../../shared/ui/feedback";
import { TextField } from "../../shared/ui/field";
import { Page, Section } from "../../shared/ui/page";
import { KeyBadge } from "../../shared/ui/states";
import { Table } from "../../shared/ui/table";
import { Badge, Time } from "../../shared/ui/values";
import { useAct, useData } from "../data";
import { PasskeyField, passkeyName } from "../passkey";
import { api, askForLive, forget, session } from "../session";

const words = text.keys;
const EVERY_MS = 30_000;

export default function Keys() {
  const client = api.value;
  const revoking = useSignal<Key | undefined>(undefined);
  const data = useData((signal) => client.keys({ signal }), [client.keyId], { on: false, everyMs: EVERY_MS });
  return (
    <Page title={words.title}>
      <Shown data={data}>
        {(keys) => (
          <div class="section flush">
            <Table
              caption={words.caption}
              rows={keys}
              id={({ key_id }) => key_id}
              columns={[
                { name: words.columns.key, cell: (key) => <Named keyId={key.key_id} mine={key.key_id === client.keyId} /> },
                { name: words.columns.label, cell: ({ label }) => label ?? "" },
                { name: words.columns.status, cell: (key) => <Status of={key} /> },
                { name: words.columns.algorithm, cell: ({ algorithm }) => algorithm },
                { name: words.columns.created, cell: ({ created_at }) => <Time at={created_at} /> },
                {
                  name: words.columns.act,
                  cell: (key) => (key.status === "revoked" ? null : <Button onClick={() => (revoking.value = key)}>{words.revoke}</Button>),
                },
              ]}
            />
          </div>
        )}
      </Shown>
      {session.value?.identity.environment === "sandbox" ? <LiveAccess onAsked={data.reload} /> : null}
      {revoking.value === undefined ? null : (
        <Revoke
          keyId={revoking.value.key_id}
          onClose={() => {
            revoking.value = undefined;
            data.reload();
          }}
        />
      )}
    </Page>
  );
}

function Status({ of: { status, environment } }: { of: Key }) {
  return (
    <span class="badges">
      <KeyBadge status={status} />
      {environment === "live" ? <Badge tone="accent">{text.live}</Badge> : <Badge>{text.sandbox}</Badge>}
    </span>
  );
}

function Named({ keyId, mine }: { keyId: string; mine: boolean }) {
  return (
    <span class="badges">
      <code>{keyId}</code>
      {mine ? <Badge tone="accent">{words.this}</Badge> : null}
    </span>
  );
}

function Revoke({ keyId, onClose }: { keyId: string; onClose: () => void }) {
  const current = session.value;
  const mine = current?.api.keyId === keyId;
  const act = useAct(async () => {
    if (mine && current !== undefined) await forget(current.identity, true);
    else await api.value.revokeKey(keyId);
  });
  return (
    <Confirm
      title={words.revokeTitle}
      what={mine ? `${words.revokeWhat(keyId)} ${words.revokeSelf}` : words.revokeWhat(keyId)}
      act={words.revoke}
      busy={act.busy}
      problem={act.problem}
      onClose={onClose}
      onConfirm={() => void act.run().then((done) => done && onClose())}
    />
  );
}

function LiveAccess({ onAsked }: { onAsked: () => void }) {
  const name = useSignal(`${session.value?.identity.name ?? ""} (${text.live.toLowerCase()})`);
  const lock = useSignal(false);
  const act = useAct(async () => {
    const called = name.value.trim();
    await askForLive(called, lock.value ? passkeyName(called, "live") : undefined);
    say(words.liveAsked);
    onAsked();
  });
  return (
    <Section title={words.live} note={words.liveText}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act.run();
        }}
      >
        <TextField label={words.liveName} value={name.value} onValue={(value) => (name.value = value)} />
        <PasskeyField chosen={lock} />
        {act.problem === undefined ? null : <Problem problem={act.problem} />}
        <Button type="submit" busy={act.busy}>
          {words.liveAsk}
        </Button>
      </form>
    </Section>
  );
}
