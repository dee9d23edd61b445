/** Acts of operators: what is said before, and what happens if a second operator has to confirm. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Operators } from "railgate/client";
import { text } from "../../shared/text";
import { Confirm } from "../../shared/ui/dialog";
import { say } from "../../shared/ui/feedback";
import { TextField, errorOf } from "../../shared/ui/field";
import { Time } from "../../shared/ui/values";
import { type Data, type DataOptions, useData, useKeyedAct } from "../data";
import { href } from "../router";
import { api } from "../session";
import { Person } from "./people";
import { type Rule, useWho } from "./rules";

/** What operators look at is read again when something changed, and now and then for what the gateway does not tell. */
export const WATCHED: DataOptions = { everyMs: 15_000, gatherMs: 500 };
/** What the gateway works on by itself. */
export const WORKED: DataOptions = { everyMs: 4_000, gatherMs: 500 };

/** Whether an act waits for a second operator. */
export const isAsked = (answer: unknown): answer is Operators.Asked =>
  typeof answer === "object" && answer !== null && "approval" in answer && typeof answer.approval === "object";

interface ActProps<T> {
  readonly title: string;
  /** What exactly happens. */
  readonly what: ComponentChildren;
  /** Which of the gateway's settings decides who confirms it, or who that is. */
  readonly rule: Rule | { readonly said: string };
  /** What the outcome of something is worth, for the rule about outcomes. */
  readonly amount?: string | undefined;
  /** The name of the act, on its button. */
  readonly act: string;
  readonly danger?: boolean;
  /** Whether it has a reason of its own here; acts with evidence do without. */
  readonly reason?: "required" | "optional" | "none";
  /** Makes the call, with the `idempotencyKey` of this dialog. */
  readonly run: (reason: string, idempotencyKey: string) => Promise<T>;
  /** What is said once it took effect. */
  readonly done: string;
  readonly onDone?: ((answer: T) => void) | undefined;
  readonly onClose: () => void;
  /** Further fields, each with what the gateway says of its place in the request. */
  readonly children?: (wrong: (pointer: string) => string | undefined) => ComponentChildren;
}

/** Asks before an act: what it does, who confirms, and why it is done. */
export function Act<T>({ reason = "required", run, done, onDone, onClose, children, danger = false, rule, amount, ...said }: ActProps<T>) {
  const why = useSignal("");
  const decided = useWho(typeof rule === "string" ? rule : "alone", amount);
  const who = typeof rule === "string" ? decided : rule.said;
  const act = useKeyedAct(async (idempotencyKey) => {
    const answer = await run(why.value.trim(), idempotencyKey);
    say(isAsked(answer) ? text.operator.asked : done);
    onClose();
    onDone?.(answer);
  });
  return (
    <Confirm {...said} who={who} danger={danger} busy={act.busy} problem={act.problem} onClose={onClose} onConfirm={() => void act.run()}>
      {children?.((pointer) => errorOf(act.problem, pointer))}
      {reason === "none" ? null : (
        <TextField
          label={text.operator.reason}
          hint={text.operator.reasonHint}
          optional={reason === "optional"}
          maxLength={500}
          value={why.value}
          onValue={(value) => (why.value = value)}
          error={errorOf(act.problem, "/reason")}
        />
      )}
    </Confirm>
  );
}

/** What waits for a second operator about one thing. */
export function useWaiting(subject: string): Data<readonly Operators.Approval[]> {
  return useData(
    async (signal) => {
      const found: Operators.Approval[] = [];
      const pending = api.value.all("/operator/approvals", { query: { status: "pending", limit: 200 }, signal });
      for await (const one of pending) if (one.subject === subject) found.push(one);
      return found;
    },
    ["waiting", subject],
    WATCHED,
  );
}

/** Says that something about this waits for a second operator, and leads to it. */
export function Waiting({ of }: { of: Data<readonly Operators.Approval[]> }) {
  return (
    <>
      {(of.value ?? []).map((one) => (
        <p key={one.id} class="callout wait">
          <span>
            {text.operator.acts[one.act]}: {text.operator.waitsSince} <Person id={one.asked_by} />, <Time at={one.asked_at} />.
          </span>
          <a href={href(`/approvals/${one.id}`)}>{text.operator.lookAt}</a>
        </p>
      ))}
    </>
  );
}
