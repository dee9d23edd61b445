/** What became of the webhooks of the last day, beside the same hours a week before. */

import type { Operators } from "railgate/client";
import { count, percent } from "../../../shared/format";
import { text } from "../../../shared/text";
import { Table } from "../../../shared/ui/table";
import { Badge } from "../../../shared/ui/values";
import { Beside } from "./beside";
import type { Picture } from "./picture";

type Figures = Operators.WebhookFigures;

const words = text.operator.home;

/** A week's change that a person should look at: so many points more that do not arrive. */
const MORE_POINTS = 0.05;
/** With fewer that were tried, a share says little. */
const ENOUGH = 5;

/** Of those that were tried, the share that has not arrived. */
function missedOf({ delivered, failed, retrying }: Figures): number | undefined {
  const tried = delivered + failed + retrying;
  return tried === 0 ? undefined : (failed + retrying) / tried;
}

/** Whether clearly fewer arrive than a week before, or than should without an earlier figure. */
function isUnusual(now: Figures, before: Figures): boolean {
  const [missed, usual] = [missedOf(now), missedOf(before) ?? 0];
  return missed !== undefined && now.counted - now.waiting >= ENOUGH && missed - usual >= MORE_POINTS;
}

export function Webhooks({ picture }: { picture: Picture }) {
  const [now, before] = [picture.now.webhooks, picture.before.webhooks];
  if (now.counted === 0 && before.counted === 0) return null;
  const names = words.webhookColumns;
  const earlier = before.counted === 0 ? undefined : before;
  const number = (part: "counted" | "delivered" | "retrying" | "failed") => (
    <Beside now={count(now[part])} before={earlier && count(earlier[part])} />
  );
  const missed = missedOf(now);
  const usual = earlier && missedOf(earlier);
  return (
    <Table
      caption={words.webhooks}
      rows={[now]}
      id={() => "webhooks"}
      columns={[
        { name: names.what, cell: () => (isUnusual(now, before) ? <Badge tone="bad">{earlier === undefined ? words.manyMissed : words.moreMissed}</Badge> : words.webhooks) },
        { name: names.counted, number: true, cell: () => number("counted") },
        { name: names.delivered, number: true, cell: () => number("delivered") },
        { name: names.retrying, number: true, cell: () => number("retrying") },
        { name: names.failed, number: true, cell: () => number("failed") },
        {
          name: names.missed,
          number: true,
          cell: () => (
            <Beside now={missed === undefined ? "–" : percent(missed)} before={usual === undefined ? undefined : percent(usual)} />
          ),
        },
      ]}
    />
  );
}
