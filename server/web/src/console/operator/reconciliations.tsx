/** Statements of providers that were compared with the settlements, and the form that compares another one. */

import { useSignal } from "@preact/signals";
import type { Operators } from "railgate/client";
import { count, day } from "../../shared/format";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Empty, Problem, Shown, say } from "../../shared/ui/feedback";
import { CheckField, SelectField } from "../../shared/ui/field";
import { Page, Section } from "../../shared/ui/page";
import { type Column, Table } from "../../shared/ui/table";
import { Badge, Time } from "../../shared/ui/values";
import { useData, useKeyedAct } from "../data";
import { ProviderName } from "../names";
import { pageQuery, usePages } from "../paging";
import { go, href, query, refine } from "../router";
import { api } from "../session";
import { WORKED } from "./act";
import { FileField } from "./reconciliations/file";
import { useMay } from "./people";

type Reconciliation = Operators.Reconciliation;

const words = text.operator.reconciliations;

/** How many differences were found in all. */
export const differencesOf = (one: Reconciliation): number =>
  one.missing_here + one.missing_there + one.amount_differs + one.duplicate_there;

/** The period of a statement. */
export const periodOf = ({ period_from, period_to }: Reconciliation): string =>
  period_from && period_to ? words.period(day(period_from), day(period_to)) : "–";

const COLUMNS: readonly Column<Reconciliation>[] = [
  { name: words.columns.file, cell: ({ file }) => file },
  { name: words.columns.provider, cell: ({ provider }) => <ProviderName id={provider} /> },
  { name: words.columns.period, cell: periodOf },
  { name: words.columns.lines, number: true, cell: ({ lines }) => count(lines) },
  {
    name: words.columns.result,
    cell: (one) =>
      one.status === "running" ? (
        <Badge tone="accent">{words.running}</Badge>
      ) : differencesOf(one) === 0 ? (
        <Badge tone="good">{words.agrees}</Badge>
      ) : (
        <Badge tone="bad">{words.differences(differencesOf(one))}</Badge>
      ),
  },
  { name: words.columns.at, cell: ({ created_at }) => <Time at={created_at} /> },
];

export default function Reconciliations() {
  const provider = query.value.get("provider") ?? "";
  const here = pageQuery();
  const providers = useData((signal) => api.value.call("GET", "/operator/providers", { signal }), ["providers"], { on: false });
  const data = useData(
    (signal) =>
      api.value.call("GET", "/operator/reconciliations", {
        query: { ...(provider === "" ? {} : { provider }), ...here },
        signal,
      }),
    ["reconciliations", provider, here],
    WORKED,
  );
  const pages = usePages(data.value?.next_cursor, provider);
  const may = useMay("agent");
  const choices = (providers.value?.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Page title={text.operator.nav.reconciliations}>
      <p class="note">{words.intro}</p>
      {may && choices.length > 0 ? <Compare choices={choices} initial={provider} /> : null}
      <SelectField
        label={words.columns.provider}
        value={provider}
        choices={[{ value: "", label: text.any }, ...choices]}
        onValue={(value) => refine({ provider: value })}
      />
      <Shown data={data}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty title={words.none} />
          ) : (
            <div class="section flush">
              <Table
                caption={text.operator.nav.reconciliations}
                columns={COLUMNS}
                rows={page.data}
                id={({ id }) => id}
                to={({ id }) => href(`/reconciliations/${id}`)}
                pages={pages}
              />
            </div>
          )
        }
      </Shown>
    </Page>
  );
}

type MediaType = "application/json" | "application/xml" | "text/csv";

/** The media type of a statement; the gateway looks at the first byte itself. */
function typeOf(name: string): MediaType {
  if (name.endsWith(".json")) return "application/json";
  return name.endsWith(".xml") ? "application/xml" : "text/csv";
}

function Compare({ choices, initial }: { choices: readonly { value: string; label: string }[]; initial: string }) {
  const provider = useSignal(initial === "" ? (choices[0]?.value ?? "") : initial);
  const file = useSignal<File | undefined>(undefined);
  const again = useSignal(false);
  const act = useKeyedAct(async (key) => {
    const chosen = file.value;
    if (chosen === undefined) return;
    const made = await api.value.call("POST", "/operator/reconciliations", {
      query: { provider: provider.value, file: chosen.name, ...(again.value ? { again: true } : {}) },
      body: await chosen.text(),
      contentType: typeOf(chosen.name),
      // The gateway compares what is sent under a key, but not the query.
      idempotencyKey: [key, provider.value, again.value].join(" "),
    });
    say(words.compared(made.lines));
    go(href(`/reconciliations/${made.id}`));
  });
  return (
    <Section title={words.compare} note={words.compareNote}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act.run();
        }}
      >
        <SelectField
          label={words.columns.provider}
          value={provider.value}
          choices={choices}
          onValue={(value) => (provider.value = value)}
        />
        <FileField label={words.file} hint={words.fileHint} accept=".csv,.xml,.json" onFile={(chosen) => (file.value = chosen)} />
        <CheckField label={words.again} checked={again.value} onValue={(checked) => (again.value = checked)} />
        {act.problem === undefined ? null : <Problem problem={act.problem} />}
        <Button type="submit" kind="primary" busy={act.busy}>
          {act.busy ? words.comparing : words.compareAct}
        </Button>
      </form>
    </Section>
  );
}
