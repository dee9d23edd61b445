/** Texts about what waits for a person, and what is known about it. */

import type { FindingKind, MatchedBy, Resolution, ReviewReason, TransferCode, TransferKind } from "railgate/client";
import { states } from "../states";

const explained: Record<ReviewReason, string> = {
  no_end_for_a_day: "Nobody knows the outcome after a day: the provider's answers prove nothing. The money stays on hold.",
  discrepancy: "An answer of the provider contradicts what was proved. The recorded outcome stays, and no money moves.",
  in_statement: "The provider's statement has this payment, and here its outcome is open. The line is the proof that you need.",
  statement_differs: "The provider's statement contradicts the recorded outcome.",
};

export const reviews = {
  intro: "What the gateway cannot decide alone. It never guesses: a person looks at it and decides with evidence.",
  all: "Also show what was put off",
  none: "Nothing waits for a person",
  noneText: "Payments come here if nobody knows their outcome after a day, or if something contradicts it.",
  one: "Review",
  title: (reference: string) => `Review of ${reference}`,
  reversalOf: (n: number, reference: string) => `Reversal ${n} of ${reference}`,
  columns: { reference: "Reference", amount: "Amount", why: "Why", status: "Status", client: "Client", provider: "Provider", since: "Arrived" },
  reasons: states.review,
  explained,
  atStake: (amount: string) => `${amount} is at stake.`,
  came: "Arrived for review",
  ask: "Ask the provider now",
  over: "This does not wait for a person any more",
  back: "To the reviews",
  readOnly: "Your role reads reviews. Agents decide about them.",
};

const effects: Record<Resolution, (amount: string) => string> = {
  confirmed_completed: (amount) => `${amount} is posted, as if the provider had reported it as carried out.`,
  confirmed_failed: (amount) => `${amount} is released, as if the provider had declined it for good. No other provider is tried.`,
  keep_waiting: () => "It leaves the list for a day, and the provider is still asked.",
  accept_discrepancy: (amount) => `${amount} stays where it is, and the contradiction needs no review any more.`,
};

export const resolve = {
  title: "Decide",
  note: "Confirm an outcome only with proof from outside the gateway: a statement of account, or a written answer of the provider.",
  what: "What became of it?",
  choices: states.resolution,
  effects,
  evidence: "Evidence",
  evidenceHint: "What proves it, such as “statement 7, line 12”. It is in the audit trail; clients never see it.",
  decide: "Decide…",
  sure: (choice: string) => `${choice}: is that certain?`,
  proof: (evidence: string) => `The evidence is: ${evidence}`,
  confirm: "Record the decision",
  done: "The decision is recorded",
};

const kinds: Record<TransferKind, string> = { pending: "held", post: "posted", void: "released", single: "moved at once" };

const codes: Record<TransferCode, string> = {
  funding: "Play money",
  payment: "Payment",
  fee: "Fee",
  reversal: "Reversal",
  return: "Return",
  deposit: "Deposit",
  withdrawal: "Withdrawal",
  fee_refund: "Fee given back",
};

export const cases = {
  payment: "Payment",
  client: "Client",
  version: "Version",
  attempts: "Attempts",
  attemptsNote: "A provider gets the payment only after proof that the one before it does not have it.",
  noAttempts: "Nothing was sent to a provider.",
  attempt: (n: number) => `Attempt ${n}`,
  reversal: (n: number) => `Reversal ${n}`,
  reversals: "Reversals",
  waits: "Waits for a person",
  decide: "Look at the review",
  money: "Holds and postings",
  moneyNote: "Every transfer of the ledger for this payment, between the accounts of both sides.",
  noTransfers: "No money moved.",
  accounts: { fees: "Fees", funding: "Play money" },
  ends: (n: number) => `(ends ${n})`,
  findings: "What statements say",
  findingsNote: "Lines of the provider's statements that differ from what is recorded here.",
  askedTitle: "What the provider says now",
  askedNothing: "There was nothing to ask about.",
  answers: states.answer,
  kinds,
  codes,
  columns: {
    n: "No.",
    provider: "Provider",
    status: "Status",
    sends: "Sent",
    sent: "Last sent",
    answered: "Answered",
    reversal: "Reversal",
    amount: "Amount",
    what: "What",
    debit: "From",
    credit: "To",
    at: "When",
  },
};

const findingKinds: Record<FindingKind, string> = {
  missing_here: "Missing here",
  missing_there: "Missing in the statement",
  amount_differs: "The amounts differ",
  duplicate_there: "Twice in the statement",
};

const by: Record<MatchedBy, string> = {
  rail_reference: "the provider's reference",
  rail_key: "the gateway's key",
  amount: "amount and time",
};

export const findings = {
  kinds: findingKinds,
  by,
  columns: { kind: "Difference", there: "In the statement", here: "Here", match: "Matched by", settlement: "Settlement" },
  line: (n: number) => `Line ${n}`,
  noLine: "no line",
  notKnown: "not known",
  matched: (by: string, confidence: number) => `${by}, ${confidence} of 100 certain`,
  unmatched: "nothing",
};
