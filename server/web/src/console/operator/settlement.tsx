/** Everything about a settlement of any client. */

import { text } from "../../shared/text";
import { Badge } from "../../shared/ui/values";
import { Shown } from "../../shared/ui/feedback";
import { Page } from "../../shared/ui/page";
import { SettlementBadge } from "../../shared/ui/states";
import { useData } from "../data";
import { href } from "../router";
import { api } from "../session";
import type { ViewProps } from "../views";
import { WATCHED } from "./act";
import { ModeBadge } from "./badges";
import { Known } from "./case/parts";

export default function SettlementPage({ params }: ViewProps) {
  const id = params["id"] ?? "";
  const data = useData((signal) => api.value.call("GET", "/operator/settlements/{id}", { params: { id }, signal }), ["case", id], WATCHED);
  const found = data.value;
  return (
    <Page
      title={found?.settlement.reference ?? id}
      about={
        found === undefined ? undefined : (
          <span class="badges">
            <SettlementBadge status={found.settlement.status} />
            <ModeBadge sandbox={found.settlement.sandbox} />
            {found.waiting.length > 0 ? <Badge tone="wait">{text.settlements.review}</Badge> : null}
          </span>
        )
      }
    >
      <Shown data={data}>
        {(about) => (
          <>
            {about.waiting.map((review) => (
              <p key={review.id} class="callout wait">
                <span>{text.operator.reviews.explained[review.reason]}</span>
                <a href={href(`/reviews/${review.id}`)}>{text.operator.cases.decide}</a>
              </p>
            ))}
            <Known about={about} />
          </>
        )}
      </Shown>
    </Page>
  );
}
