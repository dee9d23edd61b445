/** Names of states that only operators see. The types make each of them have one. */

import type { ApprovalStatus, BundleStatus, ConformanceStatus, OperatorRole, OperatorStatus, StateName } from "railgate/client";
import { states } from "../states";

const state: Record<StateName, string> = { ...states.settlement, started: "Sent", declined: "Declined", not_sent: "Not sent" };
const approval: Record<ApprovalStatus, string> = { pending: "Waits", confirmed: "Confirmed", declined: "Declined", expired: "Expired" };
const operator: Record<OperatorStatus, string> = { invited: "Invited", active: "Active", revoked: "Revoked" };
const role: Record<OperatorRole, string> = { viewer: "Viewer", agent: "Agent", approver: "Approver", admin: "Administrator" };
const bundle: Record<BundleStatus, string> = {
  draft: "Draft",
  submitted: "Submitted",
  in_review: "In review",
  changes_requested: "Changes requested",
  approved: "Approved",
  rejected: "Rejected",
  withdrawn: "Withdrawn",
  published: "Published",
  revoked: "Revoked",
};
const conformance: Record<ConformanceStatus, string> = {
  waiting: "Test waits",
  running: "Test runs",
  passed: "Test passed",
  failed: "Test failed",
};

export const operatorStates = { state, approval, operator, role, bundle, conformance };
