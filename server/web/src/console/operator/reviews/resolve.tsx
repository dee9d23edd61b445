/** The decision about a review, with its evidence. */

import { useSignal } from "@preact/signals";
import type { Operators, StateName } from "railgate/client";
import { money } from "../../../shared/format";
import { text } from "../../../shared/text";
import { Button } from "../../../shared/ui/button";
import { TextArea } from "../../../shared/ui/field";
import { Section } from "../../../shared/ui/page";
import { api } from "../../session";
import { Act } from "../act";

const words = text.operator.resolve;

type Resolution = keyof typeof words.choices;

/** What may be decided while the outcome is open, and once it is final. */
const WHILE_OPEN: readonly Resolution[] = ["confirmed_completed", "confirmed_failed", "keep_waiting"];
const ONCE_FINAL: readonly Resolution[] = ["accept_discrepancy"];

const isOpen = (status: StateName): boolean => ["accepted", "submitted", "unknown", "started"].includes(status);

interface ResolveProps {
  readonly review: Operators.Review;
  /** The version of the settlement that is shown: the decision counts for it alone. */
  readonly version: number;
  readonly onDone: () => void;
}

export function Resolve({ review, version, onDone }: ResolveProps) {
  const choices = isOpen(review.status) ? WHILE_OPEN : ONCE_FINAL;
  const chosen = useSignal<Resolution | undefined>(choices.length === 1 ? choices[0] : undefined);
  const evidence = useSignal("");
  const seen = useSignal<number | undefined>(undefined);
  const resolution = chosen.value;
  return (
    <Section title={words.title} note={words.note}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          seen.value = version;
        }}
      >
        <fieldset class="choices">
          <legend>{words.what}</legend>
          {choices.map((one) => (
            <label key={one} class="choice">
              <input type="radio" name="resolution" required checked={resolution === one} onChange={() => (chosen.value = one)} />
              <span class="beside">
                {words.choices[one]}
                <small>{words.effects[one](money(review.amount, review.currency))}</small>
              </span>
            </label>
          ))}
        </fieldset>
        <TextArea label={words.evidence} hint={words.evidenceHint} value={evidence.value} onValue={(value) => (evidence.value = value)} />
        <Button type="submit" kind="primary">
          {words.decide}
        </Button>
      </form>
      {seen.value === undefined || resolution === undefined ? null : (
        <Act
          title={words.sure(words.choices[resolution])}
          what={`${words.effects[resolution](money(review.amount, review.currency))} ${words.proof(evidence.value.trim())}`}
          rule={resolution.startsWith("confirmed") ? "outcome" : "alone"}
          amount={review.amount}
          act={words.confirm}
          danger={resolution.startsWith("confirmed")}
          reason="optional"
          run={(reason, idempotencyKey) =>
            api.value.call("POST", "/operator/reviews/{id}/resolve", {
              params: { id: review.id },
              body: {
                resolution,
                evidence: evidence.value.trim(),
                version: seen.value ?? version,
                ...(reason === "" ? {} : { reason }),
              },
              idempotencyKey,
            })
          }
          done={words.done}
          onDone={onDone}
          onClose={() => (seen.value = undefined)}
        />
      )}
    </Section>
  );
}
