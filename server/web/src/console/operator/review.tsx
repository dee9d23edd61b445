/** One review: what is known, and the decision. */

import { useSignal } from "@preact/signals";
import type { Operators } from "railgate/client";
import { money } from "../../shared/format";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Empty, Problem, Shown } from "../../shared/ui/feedback";
import { Page } from "../../shared/ui/page";
import { Time } from "../../shared/ui/values";
import { useAct, useData } from "../data";
import { href } from "../router";
import { api } from "../session";
import type { ViewProps } from "../views";
import { Waiting, WATCHED, useWaiting } from "./act";
import { ModeBadge, StateBadge } from "./badges";
import { Known } from "./case/parts";
import { useMay } from "./people";
import { Resolve } from "./reviews/resolve";

const words = text.operator.reviews;

export default function Review({ params }: ViewProps) {
  const id = params["id"] ?? "";
  const data = useData((signal) => api.value.call("GET", "/operator/reviews/{id}", { params: { id }, signal }), ["review", id], WATCHED);
  const waiting = useWaiting(id);
  // What the provider said stays until something changes.
  const asked = useSignal<Operators.Case | undefined>(undefined);
  const ask = useAct(async () => {
    asked.value = await api.value.call("POST", "/operator/reviews/{id}/ask", { params: { id } });
    data.reload();
  });
  const may = useMay("agent");
  const value = data.value;
  const review = value?.waiting.find((one) => one.id === id);
  const reload = (): void => {
    data.reload();
    waiting.reload();
  };
  return (
    <Page
      title={value === undefined ? words.one : words.title(value.settlement.reference)}
      about={review === undefined ? undefined : <About review={review} />}
      actions={
        may && review !== undefined ? (
          <Button icon="refresh" busy={ask.busy} onClick={() => void ask.run()}>
            {words.ask}
          </Button>
        ) : undefined
      }
    >
      <Waiting of={waiting} />
      {ask.problem === undefined ? null : <Problem problem={ask.problem} reads />}
      <Shown data={data}>
        {(found) => (
          <>
            {review === undefined ? (
              <Empty title={words.over}>
                <a href={href("/reviews")}>{words.back}</a>
              </Empty>
            ) : (
              <>
                <p class="callout wait">
                  <span>
                    {words.explained[review.reason]} {words.atStake(money(review.amount, review.currency))} {words.came}{" "}
                    <Time at={review.opened_at} />.
                  </span>
                </p>
                {may ? (
                  <Resolve review={review} version={found.settlement.version} onDone={reload} />
                ) : (
                  <p class="note">{words.readOnly}</p>
                )}
              </>
            )}
            <Known about={asked.value === undefined ? found : { ...found, asked: asked.value.asked ?? [] }} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function About({ review }: { review: Operators.Review }) {
  return (
    <span class="badges">
      <StateBadge status={review.status} />
      <ModeBadge sandbox={review.sandbox} />
    </span>
  );
}
