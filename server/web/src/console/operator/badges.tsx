/** States that only operators see, as badges. */

import type { ApprovalStatus, BundleStatus, ConformanceStatus, OperatorStatus, Operators, SettlementStatus, StateName } from "railgate/client";
import { text } from "../../shared/text";
import { toneOf } from "../../shared/ui/states";
import { Badge, type Tone } from "../../shared/ui/values";

const names = text.operator.states;

/** Attempts have states besides those of settlements. */
const OF_ATTEMPTS: Record<Exclude<StateName, SettlementStatus>, Tone> = { started: "accent", declined: "bad", not_sent: "bad" };
const isOfAttempts = (status: StateName): status is keyof typeof OF_ATTEMPTS => status in OF_ATTEMPTS;
const APPROVAL: Record<ApprovalStatus, Tone> = { pending: "wait", confirmed: "good", declined: "bad", expired: "idle" };
const OPERATOR: Record<OperatorStatus, Tone> = { invited: "wait", active: "good", revoked: "idle" };
const BUNDLE: Record<BundleStatus, Tone> = {
  draft: "idle",
  submitted: "wait",
  in_review: "accent",
  changes_requested: "wait",
  approved: "good",
  rejected: "bad",
  withdrawn: "idle",
  published: "good",
  revoked: "bad",
};
const CONFORMANCE: Record<ConformanceStatus, Tone> = { waiting: "accent", running: "accent", passed: "good", failed: "bad" };

/** The state of a settlement, a reversal or an attempt. */
export const StateBadge = ({ status }: { status: StateName }) => (
  <Badge tone={isOfAttempts(status) ? OF_ATTEMPTS[status] : toneOf(status)}>{names.state[status]}</Badge>
);
export const ApprovalBadge = ({ status }: { status: ApprovalStatus }) => <Badge tone={APPROVAL[status]}>{names.approval[status]}</Badge>;
export const OperatorBadge = ({ status }: { status: OperatorStatus }) => <Badge tone={OPERATOR[status]}>{names.operator[status]}</Badge>;
export const BundleBadge = ({ status }: { status: BundleStatus }) => <Badge tone={BUNDLE[status]}>{names.bundle[status]}</Badge>;
export const ConformanceBadge = ({ status }: { status: ConformanceStatus }) => (
  <Badge tone={CONFORMANCE[status]}>{names.conformance[status]}</Badge>
);
/** Where a bundle may be published. Only one that was made with a live credential may move real money. */
export const BundleModeBadge = ({ bundle }: { bundle: Pick<Operators.BundleSummary, "mode"> }) => (
  <Badge>{bundle.mode === "live" ? text.operator.bundles.forLive : text.operator.bundles.sandboxOnly}</Badge>
);
/** Whether real money is meant. */
export const ModeBadge = ({ sandbox }: { sandbox: boolean }) => (
  <Badge tone={sandbox ? "idle" : "accent"}>{sandbox ? text.sandbox : text.live}</Badge>
);
