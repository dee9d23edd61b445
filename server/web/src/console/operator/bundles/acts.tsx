/** What a reviewer can do with a bundle in its state. */

import { useSignal } from "@preact/signals";
import type { BundleStatus, OperatorAct, Operators } from "railgate/client";
import { text } from "../../../shared/text";
import { Button } from "../../../shared/ui/button";
import { CheckField, TextArea } from "../../../shared/ui/field";
import { api } from "../../session";
import { Act } from "../act";
import { useMay } from "../people";

type Bundle = Operators.Bundle;
type Name = keyof typeof words.acts;

const words = text.operator.bundles;

/** The acts of each state, the usual one first. */
const OFFERED: Record<BundleStatus, readonly Name[]> = {
  draft: [],
  submitted: ["start", "test"],
  in_review: ["approve", "changes", "reject", "test"],
  changes_requested: [],
  approved: ["publishSandbox", "publishLive", "test"],
  rejected: [],
  withdrawn: [],
  published: ["publishLive", "revoke"],
  revoked: [],
};

/** Acts that a second operator may have to confirm. */
const CONFIRMED: Partial<Record<Name, OperatorAct>> = { publishLive: "publish_bundle", revoke: "revoke_bundle" };
/** Acts that end something. */
const FINAL: ReadonlySet<Name> = new Set(["reject", "revoke"]);

/** Whether an act is possible at all. */
function fits(bundle: Bundle, name: Name): boolean {
  if (name === "publishSandbox") return !bundle.published.sandbox && !bundle.publishing;
  // The sandbox comes first, and only what was made with a live credential goes live.
  if (name === "publishLive") return bundle.mode === "live" && bundle.published.sandbox && !bundle.published.live && !bundle.publishing;
  return true;
}

/** The call of an act. What the reviewer says is the comment, or the reason of a publication. */
function call(name: Name, bundle: Bundle, said: string, routes: boolean, idempotencyKey: string): Promise<unknown> {
  const about = { params: { id: bundle.id }, idempotencyKey };
  const publish = (mode: string) =>
    api.value.call("POST", "/bundles/{id}/publish", {
      ...about,
      ifMatch: `"${bundle.version}"`,
      body: { mode, reason: said, ...(routes ? {} : { routes: false }) },
    });
  switch (name) {
    case "start":
      return api.value.call("POST", "/bundles/{id}/start-review", { ...about, body: { comment: said } });
    case "test":
      return api.value.call("POST", "/operator/bundles/{id}/test", { ...about, body: { comment: said } });
    case "approve":
      return api.value.call("POST", "/bundles/{id}/approve", { ...about, body: { comment: said, digest: bundle.digest } });
    case "changes":
      return api.value.call("POST", "/bundles/{id}/request-changes", { ...about, body: { comment: said } });
    case "reject":
      return api.value.call("POST", "/bundles/{id}/reject", { ...about, body: { comment: said } });
    case "publishSandbox":
      return publish("sandbox");
    case "publishLive":
      return publish("live");
    case "revoke":
      return api.value.call("POST", "/bundles/{id}/revoke", { ...about, ifMatch: `"${bundle.version}"`, body: { reason: said } });
  }
}

interface BundleActsProps {
  readonly bundle: Bundle;
  /** What waits for a second operator already is not offered again. */
  readonly waiting: readonly Operators.Approval[];
  readonly onDone: () => void;
}

export function BundleActs({ bundle, waiting, onDone }: BundleActsProps) {
  const may = useMay("agent");
  const open = useSignal<Name | undefined>(undefined);
  const isAsked = (name: Name): boolean => waiting.some(({ act }) => act === CONFIRMED[name]);
  const offered = may ? OFFERED[bundle.status].filter((name) => fits(bundle, name) && !isAsked(name)) : [];
  return (
    <>
      {offered.map((name, n) => (
        <Button key={name} kind={FINAL.has(name) ? "danger" : n === 0 ? "primary" : "plain"} onClick={() => (open.value = name)}>
          {words.acts[name].act}
        </Button>
      ))}
      {open.value === undefined ? null : (
        <Asking name={open.value} bundle={bundle} onDone={onDone} onClose={() => (open.value = undefined)} />
      )}
    </>
  );
}

interface AskingProps {
  readonly name: Name;
  readonly bundle: Bundle;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function Asking({ name, bundle, onDone, onClose }: AskingProps) {
  const comment = useSignal("");
  const routes = useSignal(true);
  // The bundle as it is now: what is approved or published is what the reviewer has read.
  const read = useSignal(bundle);
  const said = words.acts[name];
  const publishes = name === "publishSandbox" || name === "publishLive";
  return (
    <Act
      title={said.title(words.title(bundle.manifest.name, bundle.release))}
      what={said.what}
      rule={name === "publishLive" ? "provider" : "alone"}
      act={said.act}
      danger={FINAL.has(name)}
      reason="none"
      run={(_, key) => call(name, read.value, comment.value.trim(), routes.value, key)}
      done={said.done}
      onDone={onDone}
      onClose={onClose}
    >
      {(wrong) => (
        <>
          <TextArea
            label={publishes || name === "revoke" ? text.operator.reason : words.comment}
            hint={publishes || name === "revoke" ? text.operator.reasonHint : words.commentHint}
            value={comment.value}
            onValue={(value) => (comment.value = value)}
            error={wrong(publishes || name === "revoke" ? "/reason" : "/comment")}
          />
          {publishes && (bundle.manifest.routes ?? []).length > 0 ? (
            <CheckField label={words.withRoutes} checked={routes.value} onValue={(checked) => (routes.value = checked)} />
          ) : null}
        </>
      )}
    </Act>
  );
}
