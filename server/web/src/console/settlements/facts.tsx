/** What a settlement is: the facts of its record. */

import type { Settlement } from "railgate/client";
import { text } from "../../shared/text";
import { ProviderName } from "../names";
import { Copy, Facts, Money, Time } from "../../shared/ui/values";

const words = text.settlement;

const isZero = (amount: string): boolean => /^[0.]*$/.test(amount);

export function SettlementFacts({ settlement }: { settlement: Settlement }) {
  const { currency, failure } = settlement;
  const sum = (amount: string) => <Money amount={amount} currency={currency} />;
  const time = (at: string | null) => (at === null ? undefined : <Time at={at} full />);
  const all: readonly (readonly [string, preact.ComponentChildren])[] = [
    [words.amount, sum(settlement.amount)],
    [words.fee, isZero(settlement.fee) ? undefined : sum(settlement.fee)],
    [words.debit, isZero(settlement.fee) ? undefined : sum(settlement.total_debit)],
    [words.reversed, isZero(settlement.reversed_amount) ? undefined : sum(settlement.reversed_amount)],
    [words.reversing, isZero(settlement.reversing_amount) ? undefined : sum(settlement.reversing_amount)],
    [words.feeRefunded, settlement.fee_refunded === undefined ? undefined : sum(settlement.fee_refunded)],
    [words.from, settlement.from ?? undefined],
    [words.to, settlement.to],
    [words.payee, settlement.payee.display_name ?? undefined],
    [
      words.failure,
      failure === null ? undefined : `${text.states.failure[failure.code] ?? failure.code} (${failure.iso_reason}): ${failure.message}`,
    ],
    [words.provider, <ProviderName key="provider" id={settlement.provider} />],
    [words.railReference, settlement.rail_reference === null ? undefined : <Copy value={settlement.rail_reference} />],
    [words.attempts, String(settlement.attempts)],
    [words.iso, settlement.iso_status],
    [words.user, settlement.user],
    [words.created, time(settlement.created_at)],
    [words.completed, time(settlement.completed_at)],
    [words.expires, time(settlement.expires_at)],
    [words.description, settlement.description ?? undefined],
    ...Object.entries(settlement.metadata).map(([name, value]) => [`${words.metadata}: ${name}`, value] as const),
    [words.id, <Copy key="id" value={settlement.id} />],
  ];
  return <Facts rows={all.filter(([, value]) => value !== undefined)} />;
}
