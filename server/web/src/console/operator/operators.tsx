/** The people who run the gateway: invitations, roles, revocations. */

import { useSignal } from "@preact/signals";
import type { OperatorRole, Operators } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Dialog } from "../../shared/ui/dialog";
import { Shown } from "../../shared/ui/feedback";
import { SelectField, TextField } from "../../shared/ui/field";
import { Page } from "../../shared/ui/page";
import { type Column, Table } from "../../shared/ui/table";
import { Copy, Time } from "../../shared/ui/values";
import { useData } from "../data";
import { api } from "../session";
import { Act, WATCHED } from "./act";
import { OperatorBadge } from "./badges";
import { Person, ROLES, isMe, readPeople, useMay } from "./people";

type Operator = Operators.Operator;

const words = text.operator.operators;
const CHOICES = ROLES.map((value) => ({ value, label: `${text.operator.states.role[value]}: ${words.roles[value]}` }));

export default function OperatorsPage() {
  const data = useData((signal) => api.value.call("GET", "/operator/operators", { signal }), ["operators"], WATCHED);
  const admin = useMay("admin");
  const inviting = useSignal(false);
  const code = useSignal<string | undefined>(undefined);
  const changing = useSignal<{ who: Operator; how: "role" | "revoke" } | undefined>(undefined);
  const done = (): void => {
    data.reload();
    void readPeople();
  };
  const acts: readonly Column<Operator>[] = [
    {
      name: words.columns.acts,
      number: true,
      cell: (who) =>
        isMe(who.id) || who.status === "revoked" ? null : (
          <span class="actions">
            <Button onClick={() => (changing.value = { who, how: "role" })}>{words.role.act}</Button>
            <Button kind="warning" onClick={() => (changing.value = { who, how: "revoke" })}>
              {words.revoke.act}
            </Button>
          </span>
        ),
    },
  ];
  const change = changing.value;
  return (
    <Page
      title={text.operator.nav.operators}
      actions={
        admin ? (
          <Button kind="primary" icon="plus" onClick={() => (inviting.value = true)}>
            {words.invite.act}
          </Button>
        ) : undefined
      }
    >
      <p class="note">{words.intro}</p>
      <Shown data={data}>
        {(found) => (
          <div class="section flush">
            <Table
              caption={text.operator.nav.operators}
              columns={admin ? [...COLUMNS, ...acts] : COLUMNS}
              rows={found.data}
              id={({ id }) => id}
            />
          </div>
        )}
      </Shown>
      {inviting.value ? (
        <Invite onCode={(given) => (code.value = given)} onDone={done} onClose={() => (inviting.value = false)} />
      ) : null}
      {code.value === undefined ? null : <Code code={code.value} onClose={() => (code.value = undefined)} />}
      {change === undefined ? null : change.how === "role" ? (
        <Role who={change.who} onDone={done} onClose={() => (changing.value = undefined)} />
      ) : (
        <Act
          title={words.revoke.title(change.who.name)}
          what={words.revoke.what}
          rule="alone"
          act={words.revoke.act}
          danger
          run={(reason, idempotencyKey) =>
            api.value.call("POST", "/operator/operators/{id}/revoke", { params: { id: change.who.id }, body: { reason }, idempotencyKey })
          }
          done={words.revoke.done}
          onDone={done}
          onClose={() => (changing.value = undefined)}
        />
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Operator>[] = [
  { name: words.columns.name, cell: ({ id }) => <Person id={id} /> },
  { name: words.columns.role, cell: ({ role }) => text.operator.states.role[role] },
  { name: words.columns.status, cell: ({ status }) => <OperatorBadge status={status} /> },
  { name: words.columns.by, cell: ({ invited_by }) => <Person id={invited_by} /> },
  { name: words.columns.since, cell: ({ created_at }) => <Time at={created_at} /> },
];

interface FormProps {
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function Invite({ onCode, onDone, onClose }: FormProps & { onCode: (code: string) => void }) {
  const name = useSignal("");
  const role = useSignal<OperatorRole>("viewer");
  return (
    <Act
      title={words.invite.title}
      what={words.invite.what}
      rule="alone"
      act={words.invite.act}
      run={(reason, idempotencyKey) =>
        api.value.call("POST", "/operator/operators", { body: { name: name.value.trim(), role: role.value, reason }, idempotencyKey })
      }
      done={words.invite.done}
      onDone={({ code }) => {
        onCode(code ?? "");
        onDone();
      }}
      onClose={onClose}
    >
      {(wrong) => (
        <>
          <TextField
            label={words.columns.name}
            value={name.value}
            onValue={(value) => (name.value = value)}
            error={wrong("/name")}
          />
          <SelectField label={words.columns.role} value={role.value} choices={CHOICES} onValue={(value) => (role.value = value)} />
        </>
      )}
    </Act>
  );
}

/** The code is in no other answer: it is shown until this is closed. It is empty if that answer got lost. */
function Code({ code, onClose }: { code: string; onClose: () => void }) {
  return (
    <Dialog title={words.code.title} onClose={onClose}>
      <p>{code === "" ? words.code.lost : words.code.text}</p>
      {code === "" ? null : (
        <p>
          <Copy value={code} label={text.copy} />
        </p>
      )}
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          {code === "" ? text.close : words.code.done}
        </Button>
      </footer>
    </Dialog>
  );
}

function Role({ who, onDone, onClose }: FormProps & { who: Operator }) {
  const role = useSignal(who.role);
  return (
    <Act
      title={words.role.title(who.name)}
      what={words.role.what}
      rule="alone"
      act={words.role.act}
      run={(reason, idempotencyKey) =>
        api.value.call("PUT", "/operator/operators/{id}/role", { params: { id: who.id }, body: { role: role.value, reason }, idempotencyKey })
      }
      done={words.role.done}
      onDone={onDone}
      onClose={onClose}
    >
      {() => <SelectField label={words.columns.role} value={role.value} choices={CHOICES} onValue={(value) => (role.value = value)} />}
    </Act>
  );
}
