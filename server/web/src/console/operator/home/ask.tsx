/** A line of the first page: how many, of what, and where it is decided. */

import type { ComponentChildren } from "preact";
import { text } from "../../../shared/text";
import { Icon } from "../../../shared/ui/icon";
import type { Tone } from "../../../shared/ui/values";
import { href, type Query } from "../../router";

export interface AskProps {
  readonly tone: Tone;
  /** How many, as it is shown. */
  readonly count: string;
  readonly what: string;
  readonly to: string;
  readonly query?: Query;
  /** What else helps to decide whether to go there now. */
  readonly children?: ComponentChildren;
}

export function Ask({ tone, count, what, to, query = {}, children }: AskProps) {
  return (
    <li class={`ask ${tone}`}>
      <a href={href(to, query)}>
        <span class="ask-count">{count}</span> {what}
      </a>
      {children === undefined ? null : <div class="ask-more">{children}</div>}
    </li>
  );
}

/** Lines that ask for something; without any, that there are none. */
export function Asks({ lines, none }: { lines: readonly (ComponentChildren | false)[]; none: string }) {
  const shown = lines.filter((line) => line !== false);
  if (shown.length > 0) return <ul class="asks">{shown}</ul>;
  return (
    <p class="calm">
      <Icon name="check" />
      {none}
    </p>
  );
}

/** How many there are, if not all were counted. */
export const atLeast = (n: number, more: boolean): string => (more ? text.operator.home.atLeast(n) : String(n));
