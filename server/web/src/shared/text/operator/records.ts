/** Texts about reconciliations, operators and the audit trail. */

import type { OperatorRole } from "railgate/client";

export const reconciliations = {
  intro: "A provider's statement is the last word on what it carried out. What differs from the settlements goes to the reviews.",
  one: "Reconciliation",
  none: "No statement was compared yet",
  columns: { file: "File", provider: "Provider", period: "Period", lines: "Lines", result: "Result", at: "Compared" },
  period: (from: string, to: string) => `${from} – ${to}`,
  running: "Running",
  agrees: "Agrees",
  differences: (n: number) => (n === 1 ? "1 difference" : `${n} differences`),
  compare: "Compare a statement",
  compareNote:
    "CSV by the provider's settings, camt.053, camt.054, or statement entries of the GSMA Mobile Money API. Compare every one, in order.",
  compareAct: "Compare",
  comparing: "Comparing…",
  compared: (lines: number) => `${lines} lines are compared`,
  file: "Statement",
  fileHint: "A file that was compared before shows its earlier result.",
  again: "Compare it with what there is now, even if it was compared before",
  statement: "Statement",
  format: "Format",
  matched: "What matched",
  matchedNote: "Lines that have a settlement, by what connects them.",
  skipped: "Lines that do not count",
  by: (what: string) => (what === "" ? "Compared by" : `By ${what}`),
  findings: "What differs",
  noFindings: "Nothing differs",
  kindOf: (kind: string, n: number) => `${kind} (${n})`,
  export: "Export as CSV",
};

const roles: Record<OperatorRole, string> = {
  viewer: "reads everything",
  agent: "acts for clients, providers and reviews",
  approver: "also confirms what others ask for",
  admin: "also invites and revokes operators",
};

export const operators = {
  intro: "People who run the gateway. All whom one person let in count as one with that person when something needs a second operator.",
  columns: { name: "Name", role: "Role", status: "Status", by: "Invited by", since: "Since", acts: "Actions" },
  roles,
  invite: {
    act: "Invite",
    title: "Invite an operator?",
    what: "It makes a code for one key, valid for seven days. Whoever has the code gets the role.",
    done: "The invitation is created",
  },
  code: {
    title: "Invitation code",
    text: "Give this code to the person, over a channel that you trust. It is shown once.",
    lost: "The code was in a response that got lost. Revoke the invitation, and invite the person again.",
    done: "I have copied it",
  },
  role: {
    act: "Change role",
    title: (name: string) => `Change the role of ${name}?`,
    what: "It holds at once on this server, and within five seconds on others.",
    done: "The role is changed",
  },
  revoke: {
    act: "Revoke",
    title: (name: string) => `Revoke ${name}?`,
    what: "Their key never signs again, and what they asked for cannot be confirmed any more.",
    done: "The operator is revoked",
  },
};

export const audit = {
  intro: "What clients and operators did and who signed it, and which attempts were refused.",
  columns: { at: "When", who: "Who", action: "Action", target: "About", outcome: "Outcome", detail: "Details" },
  done: "Done",
  details: (n: number) => (n === 1 ? "1 detail" : `${n} details`),
  client: "Only about this client",
  show: "Show",
};
