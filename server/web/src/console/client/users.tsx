/** End users of the client, and codes that enrol their devices. */

import { useSignal } from "@preact/signals";
import type { Operators } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Dialog } from "../../shared/ui/dialog";
import { Empty, Problem, Shown } from "../../shared/ui/feedback";
import { TextField, errorOf } from "../../shared/ui/field";
import { Page } from "../../shared/ui/page";
import { Table } from "../../shared/ui/table";
import { Badge, Copy, Facts, Time } from "../../shared/ui/values";
import { useData, useKeyedAct } from "../data";
import { pageSize, usePages } from "../paging";
import { href, query } from "../router";
import { api } from "../session";

const words = text.users;
const EVERY_MS = 15_000;

export type User = Operators.User;

export const StatusOf = ({ user: { status } }: { user: User }) => (
  <Badge tone={status === "active" ? "good" : "bad"}>{words.statuses[status]}</Badge>
);

export default function Users() {
  const client = api.value;
  const making = useSignal(false);
  const cursor = query.value.get("cursor") ?? "";
  const read = (signal: AbortSignal) =>
    client.call("GET", "/mobile/users", { query: { limit: pageSize(), ...(cursor === "" ? {} : { cursor }) }, signal });
  const data = useData(read, [cursor], { on: false, everyMs: EVERY_MS });
  const pages = usePages(data.value?.next_cursor, "");
  const make = (
    <Button kind="primary" icon="plus" onClick={() => (making.value = true)}>
      {words.code}
    </Button>
  );
  return (
    <Page title={words.title} actions={make}>
      <p class="note">{words.intro}</p>
      <Shown data={data}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty title={words.empty}>
              <p>{words.emptyText}</p>
            </Empty>
          ) : (
            <div class="section flush">
              <Table
                caption={words.caption}
                rows={page.data}
                id={({ user }) => user}
                to={({ user }) => href(`/users/${encodeURIComponent(user)}`)}
                columns={[
                  { name: words.columns.user, cell: ({ user }) => <strong>{user}</strong> },
                  { name: words.columns.status, cell: (user) => <StatusOf user={user} /> },
                  { name: words.columns.limits, cell: ({ limits }) => limits.map(({ currency }) => currency).join(", ") || text.none },
                  { name: words.columns.created, cell: ({ created_at }) => <Time at={created_at} /> },
                ]}
                pages={pages}
              />
            </div>
          )
        }
      </Shown>
      {making.value ? (
        <CodeDialog
          onClose={() => {
            making.value = false;
            data.reload();
          }}
        />
      ) : null}
    </Page>
  );
}

/** Asks for the user, unless one is given, and shows the code once. */
export function CodeDialog({ user: given = "", onClose }: { user?: string; onClose: () => void }) {
  const user = useSignal(given);
  const code = useSignal<Operators.DeviceCode | undefined>(undefined);
  const act = useKeyedAct(async (idempotencyKey) => {
    code.value = await api.value.call("POST", "/mobile/enrollment-codes", { body: { user: user.value.trim() }, idempotencyKey });
  });
  if (code.value !== undefined) return <Code code={code.value} onClose={onClose} />;
  return (
    <Dialog title={words.code} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act.run();
        }}
      >
        <TextField
          label={words.codeUser}
          hint={words.codeUserHint}
          value={user.value}
          onValue={(value) => (user.value = value)}
          error={errorOf(act.problem, "/user")}
        />
        {act.problem === undefined ? null : <Problem problem={act.problem} />}
        <footer class="dialog-foot">
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button type="submit" kind="primary" busy={act.busy}>
            {words.codeMake}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function Code({ code, onClose }: { code: Operators.DeviceCode; onClose: () => void }) {
  return (
    <Dialog title={words.codeTitle(code.user)} onClose={onClose}>
      {code.code ? (
        <>
          <p>{words.codeText}</p>
          <p class="code-large">
            <Copy value={code.code} label={text.copy} />
          </p>
        </>
      ) : (
        <p>{words.codeLost}</p>
      )}
      {typeof code.qr === "string" ? (
        // The gateway's own drawing, as an image: it cannot run or load anything.
        <img class="qr" src={`data:image/svg+xml,${encodeURIComponent(code.qr)}`} alt={words.codeQr} width="220" height="220" />
      ) : null}
      <Facts rows={[[words.codeExpires, <Time key="until" at={code.expires_at} full />]]} />
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          {text.close}
        </Button>
      </footer>
    </Dialog>
  );
}
