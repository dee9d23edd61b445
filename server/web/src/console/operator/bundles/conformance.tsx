/** What the gateway's test of the sandbox endpoint found, check by check. */

import type { Operators } from "railgate/client";
import { capital } from "../../../shared/capital";
import { duration, pretty } from "../../../shared/format";
import { text } from "../../../shared/text";
import { Empty, Shown } from "../../../shared/ui/feedback";
import { Section } from "../../../shared/ui/page";
import { Badge, Time, type Tone } from "../../../shared/ui/values";
import { useData } from "../../data";
import { api } from "../../session";
import { WORKED } from "../act";

type Check = Operators.CheckReport;

const words = text.operator.bundles.test;

const TONES: Readonly<Record<string, Tone>> = { passed: "good", failed: "bad", advice: "wait", skipped: "idle" };
/** What needs attention comes first. */
const ORDER = ["failed", "advice", "skipped", "passed"];

export function ConformanceReport({ bundle }: { bundle: Operators.Bundle }) {
  const data = useData(
    (signal) => api.value.call("GET", "/operator/bundles/{id}/conformance", { params: { id: bundle.id }, signal }),
    ["conformance", bundle.id],
    WORKED,
  );
  return (
    <Section title={words.title} note={words.note}>
      <Shown data={data}>
        {({ report, at, revision }) =>
          report === null || report === undefined ? (
            <Empty title={words.none} />
          ) : (
            <>
              <p>
                {report.ok ? words.ok : words.failed(report.failed)}{" "}
                {words.about(report.base_url, revision ?? bundle.revision, duration(report.took_ms))}{" "}
                {at ? <Time at={at} /> : null}
              </p>
              <Checks checks={report.checks} />
            </>
          )
        }
      </Shown>
    </Section>
  );
}

function Checks({ checks }: { checks: readonly Check[] }) {
  const sorted = [...checks].sort((a, b) => ORDER.indexOf(a.result) - ORDER.indexOf(b.result));
  return (
    <ul class="checks">
      {sorted.map((one) => (
        <li key={one.check}>
          <details>
            <summary>
              <Badge tone={TONES[one.result] ?? "idle"}>{words.results[one.result as keyof typeof words.results] ?? one.result}</Badge>{" "}
              {capital(one.check)}
            </summary>
            <CheckDetails check={one} />
          </details>
          {one.why ? <p class="hint">{one.why}</p> : null}
        </li>
      ))}
    </ul>
  );
}

/** The page of the documentation that a check names as the file that it is made from. */
const pageOf = (says: string): string => `/${says.replace(/\.md(?=#|$)/, "")}`;

function CheckDetails({ check }: { check: Check }) {
  return (
    <div class="check-more">
      <p>
        {words.expected} {check.expected} (<a href={pageOf(check.says)}>{words.says}</a>)
      </p>
      {check.exchanges.map((one, n) => (
        <pre key={n} tabIndex={0}>
          {`${one.method} ${one.url}\n${pretty(one.body)}\n\n`}
          {one.came ? `${one.came.status} (${duration(one.took_ms)})\n${pretty(one.came.body)}` : words.noAnswer}
        </pre>
      ))}
    </div>
  );
}
