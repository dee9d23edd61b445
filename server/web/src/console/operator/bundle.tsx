/** One bundle under review: what it says, what changed, what the test found, what was said, and the decision. */

import type { Operators } from "railgate/client";
import { text } from "../../shared/text";
import { Shown } from "../../shared/ui/feedback";
import { Page, Section } from "../../shared/ui/page";
import { Copy, Facts, Time } from "../../shared/ui/values";
import { useData } from "../data";
import { href } from "../router";
import { api } from "../session";
import type { ViewProps } from "../views";
import { Waiting, WATCHED, useWaiting } from "./act";
import { BundleBadge, BundleModeBadge, ConformanceBadge } from "./badges";
import { BundleActs } from "./bundles/acts";
import { ConformanceReport } from "./bundles/conformance";
import { Content, Documents } from "./bundles/content";
import { Diff } from "./bundles/diff";
import { Timeline } from "./bundles/timeline";
import { Place } from "./places";
import { ClientLink, Named } from "./subjects";

type Bundle = Operators.Bundle;

const words = text.operator.bundles;

export default function BundlePage({ params }: ViewProps) {
  const id = params["id"] ?? "";
  const data = useData((signal) => api.value.call("GET", "/operator/bundles/{id}", { params: { id }, signal }), ["bundle", id], WATCHED);
  const waiting = useWaiting(id);
  const found = data.value;
  const reload = (): void => {
    data.reload();
    waiting.reload();
  };
  return (
    <Page
      title={found === undefined ? words.one : words.title(found.manifest.name, found.release)}
      about={found === undefined ? undefined : <State bundle={found} />}
      actions={found === undefined ? undefined : <BundleActs bundle={found} waiting={waiting.value ?? []} onDone={reload} />}
    >
      <Waiting of={waiting} />
      <Shown data={data}>
        {(bundle) => (
          <>
            {bundle.publishing ? <p class="callout accent">{words.publishing(bundle.publishing)}</p> : null}
            {bundle.findings.length === 0 ? null : <Findings findings={bundle.findings} />}
            <div class="split">
              <Section title={words.facts}>
                <BundleFacts bundle={bundle} />
              </Section>
              <Section title={words.documents}>
                <Documents bundle={bundle} />
              </Section>
            </div>
            <ConformanceReport bundle={bundle} />
            {bundle.revision > 1 ? <Diff bundle={bundle} /> : null}
            <Section title={words.manifest} note={words.manifestNote}>
              <Content bundle={bundle} />
            </Section>
            <Timeline bundle={bundle} onDone={reload} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function State({ bundle }: { bundle: Bundle }) {
  return (
    <span class="badges">
      <BundleBadge status={bundle.status} />
      {bundle.conformance ? <ConformanceBadge status={bundle.conformance} /> : null}
      <BundleModeBadge bundle={bundle} />
    </span>
  );
}

/** What the gateway found; it refuses nothing, but a reviewer should know. */
function Findings({ findings }: { findings: Bundle["findings"] }) {
  return (
    <div class="callout wait">
      <p class="callout-title">{words.findings}</p>
      <ul>
        {findings.map(({ code, pointer, message }) => (
          <li key={`${code} ${pointer}`}>
            <Place pointer={pointer} />: {message}
          </li>
        ))}
      </ul>
    </div>
  );
}

function BundleFacts({ bundle }: { bundle: Bundle }) {
  const published = (["sandbox", "live"] as const).filter((mode) => bundle.published[mode]);
  const provider = (mode: "sandbox" | "live") => (mode === "live" ? bundle.provider : `${bundle.provider}-sandbox`);
  return (
    <Facts
      rows={[
        [words.columns.partner, <ClientLink id={bundle.client_id} />],
        [words.columns.revision, String(bundle.revision)],
        [words.digest, <Copy value={bundle.digest} shown={`${bundle.digest.slice(0, 16)}…`} />],
        [
          words.published,
          published.length === 0
            ? words.nowhere
            : published.map((mode) => (
                <a key={mode} href={href(`/providers/${provider(mode)}`)}>
                  {provider(mode)}{" "}
                </a>
              )),
        ],
        ...bundle.signatures.map(
          (one) =>
            [
              words.signed[one.role as keyof typeof words.signed] ?? one.role,
              <span key={one.at}>
                <Named id={one.by} />, <Time at={one.at} />
              </span>,
            ] as const,
        ),
        [words.secrets, words.secretNames(bundle.secrets.sandbox.join(", "), bundle.secrets.live.join(", "))],
        [words.changed, <Time at={bundle.updated_at} full />],
      ]}
    />
  );
}
