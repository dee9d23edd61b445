/** What happened to a bundle, and what was said about it. */

import { useSignal } from "@preact/signals";
import type { BundleStatus, Json, Operators } from "railgate/client";
import { text } from "../../../shared/text";
import { Button } from "../../../shared/ui/button";
import { Problem, Shown } from "../../../shared/ui/feedback";
import { SelectField, TextArea, errorOf } from "../../../shared/ui/field";
import { Section } from "../../../shared/ui/page";
import { Time, type Tone } from "../../../shared/ui/values";
import { useData, useKeyedAct } from "../../data";
import { api } from "../../session";
import { WATCHED } from "../act";
import { Person, useMay } from "../people";
import { Place, leavesOf, placeOf } from "../places";

type Step = Operators.BundleStep;

const words = text.operator.bundles.timeline;

const TONES: Partial<Record<Step["type"], Tone>> = {
  "bundle.approved": "good",
  "bundle.published": "good",
  "bundle.rejected": "bad",
  "bundle.revoked": "bad",
  "bundle.publication_failed": "bad",
  "bundle.changes_requested": "wait",
};

/** A timeline has at most this many steps. */
const STEPS = 200;
/** States in which nothing is said any more. */
const ENDED: ReadonlySet<BundleStatus> = new Set(["rejected", "withdrawn", "revoked"]);

export function Timeline({ bundle, onDone }: { bundle: Operators.Bundle; onDone: () => void }) {
  const data = useData((signal) => steps(bundle.id, signal), ["timeline", bundle.id], WATCHED);
  const may = useMay("agent");
  return (
    <Section title={words.title}>
      <Shown data={data}>
        {(found) => (
          <ol class="timeline">
            {found.map((step) => (
              <StepLine key={step.sequence} step={step} partner={bundle.client_id} />
            ))}
          </ol>
        )}
      </Shown>
      {may && !ENDED.has(bundle.status) ? (
        <Comment
          bundle={bundle}
          onDone={() => {
            data.reload();
            onDone();
          }}
        />
      ) : null}
    </Section>
  );
}

/** The whole timeline, page by page. */
async function steps(id: string, signal: AbortSignal): Promise<readonly Step[]> {
  const found: Step[] = [];
  for (;;) {
    const query = { after: found.at(-1)?.sequence ?? 0, limit: STEPS };
    const page = await api.value.call("GET", "/operator/bundles/{id}/timeline", { params: { id }, query, signal });
    found.push(...page.data);
    if (!page.has_more || page.data.length === 0) return found;
  }
}

/** Who took a step. */
function By({ id, partner }: { id: Step["by"]; partner: string }) {
  if (id === null || id === undefined) return <>{words.gateway}</>;
  return id === partner ? <>{words.partner}</> : <Person id={id} />;
}

function StepLine({ step, partner }: { step: Step; partner: string }) {
  const pointer = typeof step.data === "object" && step.data !== null && "pointer" in step.data ? String(step.data["pointer"]) : undefined;
  return (
    <li class={TONES[step.type] ?? "idle"}>
      <div class="timeline-head">
        <strong>{words.steps[step.type] ?? step.type}</strong>
        <span class="grow" />
        <Time at={step.at} full />
      </div>
      <p class="timeline-facts">
        <span>
          <By id={step.by} partner={partner} />
        </span>
        <span>{words.revision(step.revision)}</span>
        {pointer === undefined ? null : <Place pointer={pointer} />}
      </p>
      {step.comment ? <p class="said">{step.comment}</p> : null}
    </li>
  );
}

/** What a comment can be about. */
const placesOf = ({ manifest }: Operators.Bundle): readonly { value: string; label: string }[] => [
  { value: "", label: words.wholeBundle },
  ...leavesOf(manifest as unknown as Json, "/manifest").map(({ pointer }) => ({ value: pointer, label: placeOf(pointer) })),
];

function Comment({ bundle, onDone }: { bundle: Operators.Bundle; onDone: () => void }) {
  const comment = useSignal("");
  const pointer = useSignal("");
  const act = useKeyedAct(async (idempotencyKey) => {
    await api.value.call("POST", "/operator/bundles/{id}/comments", {
      params: { id: bundle.id },
      body: { comment: comment.value.trim(), ...(pointer.value === "" ? {} : { pointer: pointer.value }) },
      idempotencyKey,
    });
    comment.value = "";
    pointer.value = "";
    onDone();
  });
  return (
    <form
      class="stretch"
      onSubmit={(event) => {
        event.preventDefault();
        void act.run();
      }}
    >
      <TextArea
        label={words.comment}
        value={comment.value}
        onValue={(value) => (comment.value = value)}
        error={errorOf(act.problem, "/comment")}
      />
      <SelectField label={words.place} value={pointer.value} choices={placesOf(bundle)} onValue={(value) => (pointer.value = value)} />
      {act.problem === undefined ? null : <Problem problem={act.problem} />}
      <div>
        <Button type="submit" busy={act.busy}>
          {words.say}
        </Button>
      </div>
    </form>
  );
}
