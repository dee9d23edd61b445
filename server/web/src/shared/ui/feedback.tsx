/** What a page shows while it has nothing to show, and when something failed. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { ConnectionError, RailgateError } from "railgate/client";
import { worded } from "../format";
import { text } from "../text";
import { Button } from "./button";
import { Icon } from "./icon";

export function Loading() {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {text.loading}
    </p>
  );
}

export function Empty({ title = text.nothing, children }: { title?: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Codes of calls that got no answer, or none that can be read. */
const UNANSWERED: ReadonlySet<string> = new Set(["connection_lost", "unreadable_answer", "outcome_unknown"]);

/** A place in a body as words: `/limits/0/daily_value` is "Limits 1 daily value:". */
function spoken(pointer: string): string {
  const names = pointer.split("/").filter((name) => name !== "");
  const numbered = names.map((name) => (/^\d+$/.test(name) ? String(Number(name) + 1) : name)).join(" ");
  return numbered === "" ? "" : `${worded(numbered)}:`;
}

interface ProblemProps {
  readonly problem: RailgateError;
  /** Reads again what could not be read. */
  readonly retry?: (() => void) | undefined;
  /** Whether it only reads, so that nothing can have been done without an answer. */
  readonly reads?: boolean;
}

/** Why something failed: what the gateway says, and where to read more. Of an act without an answer, nobody knows whether it was done. */
export function Problem({ problem, retry, reads = retry !== undefined }: ProblemProps) {
  // What this browser found itself has no page at the gateway.
  const local = problem.status === undefined;
  const unanswered = UNANSWERED.has(problem.code);
  const doubt = unanswered && !reads && (problem as Partial<ConnectionError>).notSent !== true;
  const offline = local && unanswered;
  const fields = problem.errors ?? [];
  return (
    <div class="problem" role="alert">
      <Icon name="warn" />
      <div>
        <p class="problem-title">
          {doubt ? text.problem.doubt : offline ? text.problem.offline : (problem.problem?.title ?? text.problem.title)}
        </p>
        {doubt ? <p>{problem.retryable ? text.problem.again : text.problem.look}</p> : null}
        {doubt || offline || fields.length > 0 ? null : <p>{problem.problem?.detail ?? problem.message}</p>}
        {fields.length === 0 ? null : (
          <ul>
            {fields.map(({ pointer, message }) => (
              <li key={pointer}>
                {spoken(pointer)} <span>{message}</span>
              </li>
            ))}
          </ul>
        )}
        <p class="problem-facts">
          {local ? <code>{problem.code}</code> : <a href={`/docs/problems/${encodeURIComponent(problem.code)}`}>{problem.code}</a>}
          {problem.requestId === undefined ? null : (
            <span>
              {text.problem.request} <code>{problem.requestId}</code>
            </span>
          )}
        </p>
        {retry === undefined ? null : (
          <Button icon="refresh" onClick={retry}>
            {text.retry}
          </Button>
        )}
      </div>
    </div>
  );
}

/** The states of data in one place: what failed, what loads, and what is shown. What was read before stays beside a failure. */
export function Shown<T>({
  data,
  children,
}: {
  data: { value: T | undefined; problem: RailgateError | undefined; reload: () => void };
  children: (value: T) => ComponentChildren;
}) {
  return (
    <>
      {data.problem === undefined ? null : <Problem problem={data.problem} retry={data.reload} />}
      {data.value === undefined ? data.problem === undefined ? <Loading /> : null : children(data.value)}
    </>
  );
}

const NOTICE_MS = 6_000;
const notice = signal("");
let ending: ReturnType<typeof setTimeout> | undefined;

/** Says that something was done. */
export function say(message: string): void {
  notice.value = message;
  clearTimeout(ending);
  ending = setTimeout(() => (notice.value = ""), NOTICE_MS);
}

/** Where {@link say} speaks; once in a document. */
export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notice.value === "" ? null : (
        <p class="notice">
          <Icon name="check" />
          {notice.value}
        </p>
      )}
    </div>
  );
}
