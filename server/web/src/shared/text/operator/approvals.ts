/** Texts about acts that a second operator confirms. */

import type { OperatorAct } from "railgate/client";

export const acts: Record<OperatorAct, string> = {
  approve_client: "Approve live access",
  suspend_client: "Suspend a client",
  resume_client: "End a suspension",
  set_limits: "Change limits",
  set_fees: "Change fees",
  set_floor: "Change a credit line",
  deposit: "Book a deposit",
  withdraw: "Book a withdrawal",
  put_provider: "Add or change a provider",
  enable_provider: "Enable a provider",
  disable_provider: "Disable a provider",
  maintain_provider: "Put a provider into maintenance",
  put_routes: "Replace the routes",
  resolve_review: "Decide about a review",
  set_session_signatures: "Change what sessions may sign",
  publish_bundle: "Publish a bundle",
  revoke_bundle: "Revoke a bundle",
};

/** Who confirms an act, as the gateway's settings decide. */
export const who = {
  alone: "You alone: it takes effect at once.",
  second: "You are the second operator: it takes effect at once.",
  other: "A second operator. Until then nothing changes.",
  otherFrom: (from: number) => `A second operator, because the amount is ${from.toLocaleString()} or more. Until then nothing changes.`,
  aloneBelow: (from: number) => `You alone, because the amount is below ${from.toLocaleString()}: it takes effect at once.`,
  unknown: "Perhaps a second operator: the settings of this gateway could not be read yet.",
};

export const approvals = {
  intro: "Actions that take effect only when a second operator confirms them. They wait for seven days.",
  none: "Nothing waits for a second operator",
  one: "Request",
  columns: { act: "Action", subject: "About", status: "Status", by: "Asked by", why: "Reason", at: "Asked" },
  asked: "What was asked for",
  request: "The request",
  requestNote: "Once confirmed, it takes effect at that moment. If its subject has changed since it was requested, it is refused.",
  noRequest: "The request has no details.",
  expires: "Expires",
  decided: "Decided",
  decidedBy: "Decided by",
  comment: "Comment",
  id: "Id",
  decision: "Decide",
  decisionNote: "You confirm what somebody else requested. People whom the same person invited count as one with that person.",
  own: "You asked for this. Somebody else confirms it; you can withdraw it.",
  readOnly: "Approvers confirm requests; your role reads them.",
  confirm: "Confirm",
  confirmTitle: "Confirm this request?",
  confirmWhat: "It takes effect now.",
  confirmed: "Confirmed, and in effect",
  decline: "Decline",
  declineTitle: "Decline this request?",
  declineWhat: "Nothing changes. Whoever wants it has to ask again.",
  declined: "Declined",
  withdraw: "Withdraw",
  withdrawTitle: "Withdraw your request?",
  withdrawn: "Withdrawn",
};
