/** The table of routes: what it says, an editor that shows what would change, and a tester. */

import { useSignal } from "@preact/signals";
import type { Json, Operators } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Empty, Shown } from "../../shared/ui/feedback";
import { Page, Section } from "../../shared/ui/page";
import { useData } from "../data";
import { api } from "../session";
import { Act, Waiting, WATCHED, useWaiting } from "./act";
import { Changes, changesOf } from "./changes";
import { useMay } from "./people";
import { RoutesEditor } from "./routes/editor";
import { RouteTable } from "./routes/table";
import { Tester } from "./routes/tester";

const words = text.operator.routes;

export default function Routes() {
  const data = useData(
    async (signal) => {
      const [table, providers] = await Promise.all([
        api.value.call("GET", "/operator/routes", { signal }),
        api.value.call("GET", "/operator/providers", { signal }),
      ]);
      return { table, providers: providers.data };
    },
    ["routes"],
    WATCHED,
  );
  // There is one table: requests about it name nothing.
  const waiting = useWaiting("");
  const may = useMay("agent");
  // What is edited does not change under the editor's hands: its version is compared when it is saved.
  const editing = useSignal<Operators.OperatedRoutes | undefined>(undefined);
  const table = data.value?.table;
  return (
    <Page
      title={text.operator.nav.routes}
      actions={
        may && editing.value === undefined && table !== undefined ? (
          <Button onClick={() => (editing.value = table)}>{words.edit}</Button>
        ) : undefined
      }
    >
      <p class="note">{words.intro}</p>
      <Waiting of={waiting} />
      <Shown data={data}>
        {({ table, providers }) => (
          <>
            {editing.value !== undefined ? (
              <Editor
                table={editing.value}
                providers={providers}
                onDone={() => {
                  editing.value = undefined;
                  data.reload();
                  waiting.reload();
                }}
                onCancel={() => (editing.value = undefined)}
              />
            ) : (
              <Section title={words.table(table.version)}>
                {table.routes.length === 0 ? <Empty title={words.none}>{words.noneText}</Empty> : <RouteTable routes={table.routes} />}
              </Section>
            )}
            <Tester providers={providers} />
          </>
        )}
      </Shown>
    </Page>
  );
}

interface EditorProps {
  readonly table: Operators.OperatedRoutes;
  readonly providers: readonly Operators.OperatedProvider[];
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

const asJson = (routes: readonly Operators.RouteRequest[]): Json => routes as unknown as Json;

function Editor({ table, providers, onDone, onCancel }: EditorProps) {
  const draft = useSignal(table.routes);
  const saving = useSignal(false);
  const changes = changesOf(asJson(table.routes), asJson(draft.value), "/routes");
  return (
    <form
      class="stretch"
      onSubmit={(event) => {
        event.preventDefault();
        saving.value = true;
      }}
    >
      <Section title={words.editTitle}>
        <RoutesEditor routes={draft.value} providers={providers} onRoutes={(next) => (draft.value = next)} />
      </Section>
      <Section title={words.wouldChange}>
        <Changes changes={changes} />
        <div class="dialog-foot">
          <Button onClick={onCancel}>{text.cancel}</Button>
          <Button type="submit" kind="primary" disabled={changes.length === 0}>
            {words.save}
          </Button>
        </div>
      </Section>
      {saving.value ? (
        <Act
          title={words.saveTitle}
          what={words.saveWhat(table.version, changes.length)}
          rule="routes"
          act={words.save}
          run={(reason, idempotencyKey) =>
            api.value.call("PUT", "/operator/routes", {
              ifMatch: `"${table.version}"`,
              body: { routes: draft.value, reason },
              idempotencyKey,
            })
          }
          done={words.saved}
          onDone={onDone}
          onClose={() => (saving.value = false)}
        />
      ) : null}
    </form>
  );
}
