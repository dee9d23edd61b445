/** One comparison: what matched, and what differs. */

import type { FindingKind, Operators } from "railgate/client";
import { count } from "../../shared/format";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Empty, Problem, Shown } from "../../shared/ui/feedback";
import { Page, Section } from "../../shared/ui/page";
import { Badge, Copy, Facts, Time } from "../../shared/ui/values";
import { useAct, useData } from "../data";
import { pageQuery, usePages } from "../paging";
import { href, path, query } from "../router";
import { save } from "../save";
import { api } from "../session";
import type { ViewProps } from "../views";
import { WORKED } from "./act";
import { FindingTable } from "./case/findings";
import { Person } from "./people";
import { ProviderLink } from "./subjects";
import { differencesOf, periodOf } from "./reconciliations";

const words = text.operator.reconciliations;
const KINDS = Object.keys(text.operator.findings.kinds) as FindingKind[];

export default function ReconciliationPage({ params }: ViewProps) {
  const id = params["id"] ?? "";
  const data = useData(
    (signal) => api.value.call("GET", "/operator/reconciliations/{id}", { params: { id }, signal }),
    ["reconciliation", id],
    WORKED,
  );
  const exporting = useAct(async () => {
    const table = await api.value.call("GET", "/operator/reconciliations/{id}/findings", { params: { id }, accept: "text/csv" });
    save(`${id}.csv`, table, "text/csv");
  });
  const found = data.value;
  return (
    <Page
      title={found?.file ?? words.one}
      about={found?.status === "running" ? <Badge tone="accent">{words.running}</Badge> : undefined}
      actions={
        <Button icon="out" busy={exporting.busy} onClick={() => void exporting.run()}>
          {words.export}
        </Button>
      }
    >
      {exporting.problem === undefined ? null : <Problem problem={exporting.problem} reads />}
      <Shown data={data}>
        {(one) => (
          <>
            <div class="split">
              <Section title={words.statement}>
                <Statement of={one} />
              </Section>
              <Section title={words.matched} note={words.matchedNote}>
                <Facts
                  rows={[
                    [words.columns.lines, count(one.lines)],
                    [words.skipped, count(one.skipped)],
                    ...(["rail_reference", "rail_key", "amount"] as const).map(
                      (by) => [words.by(text.operator.findings.by[by]), count(Number(one.matched[by]))] as const,
                    ),
                  ]}
                />
              </Section>
            </div>
            <Findings id={id} one={one} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Statement({ of }: { of: Operators.Reconciliation }) {
  return (
    <Facts
      rows={[
        [words.columns.provider, <ProviderLink id={of.provider} />],
        [words.columns.period, periodOf(of)],
        [words.format, of.format],
        [words.by(""), <Person id={of.made_by} />],
        [words.columns.at, <Time at={of.created_at} full />],
        ["SHA-256", <Copy value={of.sha256} shown={`${of.sha256.slice(0, 16)}…`} />],
      ]}
    />
  );
}

function Findings({ id, one }: { id: string; one: Operators.Reconciliation }) {
  const given = query.value.get("kind");
  const kind = KINDS.find((known) => known === given);
  const here = pageQuery();
  const data = useData(
    (signal) =>
      api.value.call("GET", "/operator/reconciliations/{id}/findings", {
        params: { id },
        query: { ...(kind === undefined ? {} : { kind }), ...here },
        signal,
      }),
    ["findings", id, kind, here],
    WORKED,
  );
  const pages = usePages(data.value?.next_cursor, kind ?? "");
  return (
    <Section title={words.findings}>
      <nav class="tabs" aria-label={words.findings}>
        <a href={href(path.value)} aria-current={kind === undefined ? "true" : undefined}>
          {words.kindOf(text.all, differencesOf(one))}
        </a>
        {KINDS.map((each) => (
          <a key={each} href={href(path.value, { kind: each })} aria-current={kind === each ? "true" : undefined}>
            {words.kindOf(text.operator.findings.kinds[each], one[each])}
          </a>
        ))}
      </nav>
      <Shown data={data}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty title={words.noFindings} />
          ) : (
            <FindingTable caption={words.findings} findings={page.data} pages={pages} />
          )
        }
      </Shown>
    </Section>
  );
}
