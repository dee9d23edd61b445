/** The editor of a provider: it shows what would change before anything does. */

import { useSignal } from "@preact/signals";
import type { Operators } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Shown } from "../../shared/ui/feedback";
import { Page, Section } from "../../shared/ui/page";
import { useData } from "../data";
import { go, href } from "../router";
import { api } from "../session";
import type { ViewProps } from "../views";
import { Act } from "./act";
import { Changes } from "./changes";
import { useMay } from "./people";
import { type ProviderConfig, changesAt, configOf } from "./providers/config";
import { ProviderForm } from "./providers/form";

const words = text.operator.providers;

/** A provider to begin with. */
const NEW: ProviderConfig = { id: "", name: "", rail: "adapter", mode: "sandbox" };

export default function ProviderEdit({ params }: ViewProps) {
  const id = params["id"];
  // Read once: what is edited does not change under the editor's hands. The version is compared when it is saved.
  const data = useData(
    async (signal) => (id === undefined ? undefined : api.value.call("GET", "/operator/providers/{id}", { params: { id }, signal })),
    ["edit", id],
    { on: false },
  );
  const may = useMay("agent");
  return (
    <Page title={id === undefined ? words.add : words.editTitle(data.value?.name ?? id)}>
      {may ? null : <p class="note">{words.readOnly}</p>}
      {id === undefined ? <Editor now={undefined} /> : <Shown data={data}>{(now) => <Editor key={now?.version ?? 0} now={now} />}</Shown>}
    </Page>
  );
}

function Editor({ now }: { now: Operators.OperatedProvider | undefined }) {
  const draft = useSignal<ProviderConfig>(now === undefined ? NEW : configOf(now));
  const saving = useSignal(false);
  const changes = changesAt(now, draft.value);
  return (
    <>
      <form
        class="stretch"
        onSubmit={(event) => {
          event.preventDefault();
          saving.value = true;
        }}
      >
        <ProviderForm
          draft={draft.value}
          isNew={now === undefined}
          secretNames={now?.secret_names ?? []}
          onDraft={(next) => (draft.value = next)}
        />
        <Section title={words.wouldChange} note={words.wouldChangeNote}>
          <Changes changes={changes} />
          <div class="dialog-foot">
            <a class="button plain" href={href(now === undefined ? "/providers" : `/providers/${now.id}`)}>
              {text.cancel}
            </a>
            <Button type="submit" kind="primary" disabled={changes.length === 0}>
              {words.save}
            </Button>
          </div>
        </Section>
      </form>
      {saving.value ? (
        <Act
          title={now === undefined ? words.addTitle(draft.value.name) : words.saveTitle(now.name)}
          what={words.saveWhat(changes.length, draft.value.mode === "live")}
          rule={draft.value.mode === "live" ? "provider" : "alone"}
          act={words.save}
          run={(reason, idempotencyKey) =>
            api.value.call("PUT", "/operator/providers/{id}", {
              params: { id: draft.value.id },
              ...(now === undefined ? {} : { ifMatch: `"${now.version}"` }),
              body: { ...draft.value, reason },
              idempotencyKey,
            })
          }
          done={words.saved}
          onDone={() => go(href(now === undefined ? "/providers" : `/providers/${now.id}`))}
          onClose={() => (saving.value = false)}
        />
      ) : null}
    </>
  );
}
