/** What needs somebody now: second approvals, reviews, live access, bundles. */

import { count, money } from "../../../shared/format";
import { text } from "../../../shared/text";
import { Time } from "../../../shared/ui/values";
import { Person } from "../people";
import { Ask, Asks, atLeast } from "./ask";
import type { Picture } from "./picture";

const words = text.operator.home;

export function Needs({ picture }: { picture: Picture }) {
  const { now, approvals, clients, bundles } = picture;
  return (
    <Asks
      none={words.nothingNeeded}
      lines={[
        now.approvals_pending > 0 && (
          <Ask
            key="approvals"
            tone="wait"
            count={count(now.approvals_pending)}
            what={words.approvals(now.approvals_pending)}
            to="/approvals"
          >
            <ul>
              {approvals.data.map((one) => (
                <li key={one.id}>
                  {text.operator.acts[one.act]}, <Person id={one.asked_by} />, <Time at={one.asked_at} />
                </li>
              ))}
            </ul>
          </Ask>
        ),
        now.reviews.due > 0 && <Reviews key="reviews" picture={picture} />,
        clients.data.length > 0 && (
          <Ask
            key="clients"
            tone="wait"
            count={atLeast(clients.data.length, clients.more)}
            what={words.clients(clients.data.length)}
            to="/clients"
            query={{ pending: "true" }}
          >
            {clients.data.map(({ name }) => name).join(", ")}
          </Ask>
        ),
        bundles.data.length > 0 && (
          <Ask
            key="bundles"
            tone="accent"
            count={atLeast(bundles.data.length, bundles.more)}
            what={words.bundles(bundles.data.length)}
            to="/bundles"
            query={{ status: "submitted" }}
          >
            {bundles.data.map(({ provider, release }) => `${provider} ${release}`).join(", ")}
          </Ask>
        ),
      ]}
    />
  );
}

function Reviews({ picture: { now } }: { picture: Picture }) {
  const { due, oldest_at, at_stake } = now.reviews;
  const stake = (sandbox: boolean) =>
    at_stake
      .filter((one) => one.sandbox === sandbox)
      .map(({ amount, currency }) => money(amount, currency))
      .join(" + ");
  return (
    <Ask tone={at_stake.some(({ sandbox }) => !sandbox) ? "bad" : "wait"} count={count(due)} what={words.reviews(due)} to="/reviews">
      <ul>
        {([false, true] as const).map((sandbox) =>
          stake(sandbox) === "" ? null : <li key={String(sandbox)}>{words.stake(stake(sandbox), sandbox)}</li>,
        )}
        {oldest_at === null || oldest_at === undefined ? null : (
          <li>
            {words.oldest} <Time at={oldest_at} />
          </li>
        )}
      </ul>
    </Ask>
  );
}
