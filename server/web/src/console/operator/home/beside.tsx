import { text } from "../../../shared/text";

/** A value, and under it what it was a week before, if there was any. */
export function Beside({ now, before }: { now: string; before: string | undefined }) {
  return (
    <span class="beside">
      {now}
      {before === undefined ? null : <small>{text.operator.home.weekBefore(before)}</small>}
    </span>
  );
}
