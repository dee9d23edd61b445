/** The last day at a glance: what became of the payments, by provider and currency. */

import { text } from "../../../shared/text";
import { type Bar, Bars } from "../../../shared/ui/chart";
import type { Picture } from "./picture";

const words = text.operator.home;

/** The most bars that are told apart on a phone. */
const MOST = 8;

const SERIES = [
  { name: words.became.succeeded, tone: "good" },
  { name: words.became.open, tone: "wait" },
  { name: words.became.failed, tone: "bad" },
] as const;

/** The largest figures first; the table below has all of them. */
function barsOf({ now, providers }: Picture): readonly Bar[] {
  const largest = now.figures.toSorted((a, b) => b.count - a.count).slice(0, MOST);
  const names = new Map(providers.map(({ id, name }) => [id, name]));
  return largest.map(({ provider, currency, sandbox, succeeded, open, failed, cancelled }) => ({
    label: `${names.get(provider) ?? provider} ${currency}${sandbox ? "" : ` (${text.live.toLowerCase()})`}`,
    values: [succeeded, open, failed + cancelled],
  }));
}

export function Glance({ picture }: { picture: Picture }) {
  return <Bars title={words.glance} series={SERIES} bars={barsOf(picture)} named />;
}
