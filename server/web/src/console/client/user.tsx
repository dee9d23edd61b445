/** An end user: limits, devices, and whether the devices may call. */

import { useSignal } from "@preact/signals";
import type { Operators } from "railgate/client";
import { typedNumber } from "../../shared/decimal";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Confirm } from "../../shared/ui/dialog";
import { Problem, Shown, say } from "../../shared/ui/feedback";
import { TextField, errorOf } from "../../shared/ui/field";
import { Page, Section } from "../../shared/ui/page";
import { Table } from "../../shared/ui/table";
import { Badge, Time } from "../../shared/ui/values";
import { useAct, useData } from "../data";
import { api } from "../session";
import type { ViewProps } from "../views";
import { CodeDialog, StatusOf, type User } from "./users";

const words = text.users;
const EVERY_MS = 10_000;

type Device = Operators.Device;

export default function UserPage({ params }: ViewProps) {
  const user = params["user"] ?? "";
  const client = api.value;
  const data = useData((signal) => client.call("GET", "/mobile/users/{user}", { params: { user }, signal }), [user], { on: false });
  const making = useSignal(false);
  const found = data.value;
  return (
    <Page
      title={user}
      about={found === undefined ? null : <StatusOf user={found} />}
      actions={
        found === undefined ? undefined : (
          <>
            <Button onClick={() => (making.value = true)}>{words.code}</Button>
            <Block user={found} reload={data.reload} />
          </>
        )
      }
    >
      <Shown data={data}>{(shown) => <Limits key={shown.version} user={shown} reload={data.reload} />}</Shown>
      <Devices user={user} />
      {making.value ? <CodeDialog user={user} onClose={() => (making.value = false)} /> : null}
    </Page>
  );
}

const change = (user: string, body: Operators.UserRequest) => api.value.call("PUT", "/mobile/users/{user}", { params: { user }, body });

function Block({ user: { user, status }, reload }: { user: User; reload: () => void }) {
  const asking = useSignal(false);
  const act = useAct(async (next: "active" | "blocked") => {
    await change(user, { status: next });
    asking.value = false;
    reload();
  });
  if (status === "blocked") {
    return (
      <Button busy={act.busy} onClick={() => void act.run("active")}>
        {words.unblock}
      </Button>
    );
  }
  return (
    <>
      <Button kind="danger" onClick={() => (asking.value = true)}>
        {words.block}
      </Button>
      {asking.value ? (
        <Confirm
          title={words.blockTitle(user)}
          what={words.blockWhat}
          act={words.block}
          busy={act.busy}
          problem={act.problem}
          onConfirm={() => void act.run("blocked")}
          onClose={() => (asking.value = false)}
        />
      ) : null}
    </>
  );
}

interface Row {
  readonly currency: string;
  readonly max: string;
  readonly approval_over: string;
  readonly daily_value: string;
  readonly daily_count: string;
}

const FIELDS = [
  ["currency", words.limit.currency],
  ["max", words.limit.max],
  ["approval_over", words.limit.approval],
  ["daily_value", words.limit.value],
  ["daily_count", words.limit.count],
] as const;

const EMPTY: Row = { currency: "", max: "", approval_over: "", daily_value: "", daily_count: "" };

const rowOf = ({ currency, max, approval_over, daily_value, daily_count }: Operators.UserLimits): Row => ({
  currency,
  max: max ?? "",
  approval_over: approval_over ?? "",
  daily_value: daily_value ?? "",
  daily_count: daily_count?.toString() ?? "",
});

const limitOf = ({ currency, daily_count, ...amounts }: Row): Operators.UserLimitsRequest => ({
  currency: currency.trim(),
  ...Object.fromEntries(Object.entries(amounts).map(([name, value]) => [name, value.trim() === "" ? null : value.trim()])),
  daily_count: daily_count.trim() === "" ? null : typedNumber(daily_count),
});

function Limits({ user, reload }: { user: User; reload: () => void }) {
  const rows = useSignal<readonly Row[]>(user.limits.length === 0 ? [EMPTY] : user.limits.map(rowOf));
  // A row without a currency is none, and not sent.
  const named = rows.value.filter(({ currency }) => currency.trim() !== "");
  const act = useAct(async () => {
    await change(user.user, { limits: named.map(limitOf) });
    say(words.limitsSaved);
    reload();
  });
  return (
    <Section title={words.limits} note={words.limitsNote}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act.run();
        }}
      >
        {rows.value.map((row, n) => (
          <div class="columns" key={n}>
            {FIELDS.map(([name, label]) => (
              <TextField
                key={name}
                label={label}
                optional
                inputMode={name === "currency" ? "text" : "decimal"}
                value={row[name]}
                onValue={(value) => (rows.value = rows.value.map((one, at) => (at === n ? { ...one, [name]: value } : one)))}
                error={errorOf(act.problem, `/limits/${named.indexOf(row)}/${name}`)}
              />
            ))}
          </div>
        ))}
        {act.problem === undefined ? null : <Problem problem={act.problem} />}
        <div class="actions">
          <Button icon="plus" onClick={() => (rows.value = [...rows.value, EMPTY])}>
            {words.addLimit}
          </Button>
          <Button type="submit" kind="primary" busy={act.busy}>
            {text.save}
          </Button>
        </div>
      </form>
    </Section>
  );
}

function Devices({ user }: { user: string }) {
  const client = api.value;
  const revoking = useSignal<Device | undefined>(undefined);
  const data = useData((signal) => client.call("GET", "/mobile/devices", { query: { user }, signal }), [user], {
    on: false,
    everyMs: EVERY_MS,
  });
  const named = ({ name, model, id }: Device): string => name ?? model ?? id;
  const names = words.deviceColumns;
  const act = useAct(async (id: string) => {
    await client.call("DELETE", "/mobile/devices/{id}", { params: { id } });
    revoking.value = undefined;
    data.reload();
  });
  return (
    <Section title={words.devices}>
      <Shown data={data}>
        {(page) =>
          page.data.length === 0 ? (
            <p class="note">{words.noDevices}</p>
          ) : (
            <Table
              caption={words.devices}
              rows={page.data}
              id={({ id }) => id}
              columns={[
                { name: names.name, cell: named },
                { name: names.platform, cell: ({ platform }) => platform },
                { name: names.version, cell: ({ app_version }) => app_version ?? "" },
                { name: names.created, cell: ({ created_at }) => <Time at={created_at} /> },
                {
                  name: names.status,
                  cell: ({ revoked_at }) =>
                    revoked_at ? <Badge>{words.deviceRevoked}</Badge> : <Badge tone="good">{words.deviceActive}</Badge>,
                },
                {
                  name: names.act,
                  cell: (device) =>
                    device.revoked_at ? null : (
                      <Button kind="warning" onClick={() => (revoking.value = device)}>
                        {words.deviceRevoke}
                      </Button>
                    ),
                },
              ]}
            />
          )
        }
      </Shown>
      {revoking.value === undefined ? null : (
        <Confirm
          title={words.deviceRevokeTitle}
          what={words.deviceRevokeWhat(named(revoking.value))}
          act={words.deviceRevoke}
          busy={act.busy}
          problem={act.problem}
          onConfirm={() => void act.run(revoking.value?.id ?? "")}
          onClose={() => (revoking.value = undefined)}
        />
      )}
    </Section>
  );
}
