import { text } from "../../../shared/text";

/** A value, and under it what it was a week before. */
export function Beside({ now, before }: { now: string; before: string | undefined }) {
  return (
    <span class="beside">
      {now}
      <small>{before === undefined ? text.operator.home.noneBefore : text.operator.home.weekBefore(before)}</small>
    </span>
  );
}
