/** Asks before a reversal, which is a cancellation while nothing was sent. */

import { useSignal } from "@preact/signals";
import { REVERSAL_REASONS, type ReversalReason, type ReverseRequest, type Settlement } from "railgate/client";
import { minus } from "../../shared/decimal";
import { money, typedMoney } from "../../shared/format";
import { text } from "../../shared/text";
import { Confirm } from "../../shared/ui/dialog";
import { say } from "../../shared/ui/feedback";
import { SelectField, TextField, errorOf } from "../../shared/ui/field";
import { useKeyedAct } from "../data";
import { api } from "../session";

const words = text.settlement;

const isUnsent = ({ status }: Settlement): boolean => status === "accepted";

/** Whether a settlement can be reversed or cancelled now. */
export function canReverse(settlement: Settlement): boolean {
  if (settlement.direction === "incoming") return false;
  if (isUnsent(settlement)) return true;
  const left = settlement.status === "completed" || settlement.status === "partially_reversed";
  return left && rest(settlement) !== minus(settlement.amount, settlement.amount);
}

/** What remains to be reversed. */
const rest = ({ amount, reversed_amount, reversing_amount }: Settlement): string => minus(amount, reversed_amount, reversing_amount);

export const reverseLabel = (settlement: Settlement): string => (isUnsent(settlement) ? words.cancel : words.reverse);

interface ReverseProps {
  readonly settlement: Settlement;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function Reverse({ settlement: now, onClose, onDone }: ReverseProps) {
  // What the dialog asks stays, whatever becomes of the payment meanwhile: a repeat under the same key has to be the same request.
  const { value: settlement } = useSignal(now);
  const { currency, to } = settlement;
  const unsent = isUnsent(settlement);
  const most = rest(settlement);
  const amount = useSignal(most);
  const reason = useSignal<ReversalReason>("customer_request");
  const reference = useSignal("");
  const act = useKeyedAct(async (idempotencyKey) => {
    const request: ReverseRequest = {
      reason: reason.value,
      ...(unsent ? {} : { amount: amount.value.trim() }),
      ...(reference.value === "" ? {} : { reference: reference.value.trim() }),
    };
    const { reversal } = await api.value.reverse(settlement.id, request, { idempotencyKey });
    say(reversal === null ? words.cancelledDone : words.reversedDone);
    onDone();
    onClose();
  });
  const shown = typedMoney(amount.value.trim(), currency);
  return (
    <Confirm
      title={unsent ? words.cancelTitle : words.reverseTitle}
      what={unsent ? words.cancelWhat(money(settlement.total_debit, currency)) : words.reverseWhat(shown, to)}
      act={unsent ? words.cancel : words.reverseConfirm(shown)}
      busy={act.busy}
      problem={act.problem}
      onConfirm={() => void act.run()}
      onClose={onClose}
    >
      {unsent ? null : (
        <TextField
          label={words.reverseAmount}
          hint={words.reverseAmountHint(money(most, currency))}
          inputMode="decimal"
          value={amount.value}
          onValue={(value) => (amount.value = value)}
          error={errorOf(act.problem, "/amount")}
        />
      )}
      <SelectField
        label={words.reverseReason}
        value={reason.value}
        choices={REVERSAL_REASONS.map((value) => ({ value, label: text.states.reason[value] }))}
        onValue={(value) => (reason.value = value)}
      />
      <TextField
        label={words.reverseReference}
        optional
        value={reference.value}
        onValue={(value) => (reference.value = value)}
        error={errorOf(act.problem, "/reference")}
      />
    </Confirm>
  );
}
