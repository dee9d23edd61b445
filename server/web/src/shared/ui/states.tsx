/** States as badges: the tone says at a glance whether somebody has to act. */

import type { DeliveryStatus, Health, KeyStatus, ReversalStatus, SettlementStatus, Webhook } from "railgate/client";
import { text } from "../text";
import { Badge, type Tone } from "./values";

const SETTLEMENT: Record<SettlementStatus, Tone> = {
  accepted: "accent",
  submitted: "accent",
  unknown: "wait",
  completed: "good",
  partially_reversed: "idle",
  reversed: "idle",
  returned: "bad",
  failed: "bad",
  cancelled: "idle",
};

const REVERSAL: Record<ReversalStatus, Tone> = {
  accepted: "accent",
  submitted: "accent",
  unknown: "wait",
  completed: "good",
  failed: "bad",
};

const HEALTH: Record<Health, Tone> = { up: "good", degraded: "wait", down: "bad", maintenance: "idle" };
const DELIVERY: Record<DeliveryStatus, Tone> = { pending: "accent", delivered: "good", failed: "bad" };
const WEBHOOK: Record<Webhook["status"], Tone> = { enabled: "good", disabled: "idle", gone: "bad", failing: "wait" };
const KEY: Record<KeyStatus, Tone> = { active: "good", pending: "wait", revoked: "idle" };

export const SettlementBadge = ({ status }: { status: SettlementStatus }) => (
  <Badge tone={SETTLEMENT[status]}>{text.states.settlement[status]}</Badge>
);
export const ReversalBadge = ({ status }: { status: ReversalStatus }) => (
  <Badge tone={REVERSAL[status]}>{text.states.reversal[status]}</Badge>
);
export const HealthBadge = ({ status }: { status: Health }) => <Badge tone={HEALTH[status]}>{text.states.health[status]}</Badge>;
export const DeliveryBadge = ({ status }: { status: DeliveryStatus }) => (
  <Badge tone={DELIVERY[status]}>{text.states.delivery[status]}</Badge>
);
export const WebhookBadge = ({ status }: { status: Webhook["status"] }) => (
  <Badge tone={WEBHOOK[status]}>{text.states.webhook[status]}</Badge>
);
export const KeyBadge = ({ status }: { status: KeyStatus }) => <Badge tone={KEY[status]}>{text.states.key[status]}</Badge>;

/** The tone of a settlement's state, for what has states besides. */
export const toneOf = (status: SettlementStatus): Tone => SETTLEMENT[status];
