/** A client's money: balances, deposits, withdrawals and credit. */

import { useSignal } from "@preact/signals";
import type { Operators } from "railgate/client";
import { money, typedMoney } from "../../../shared/format";
import { text } from "../../../shared/text";
import { Button } from "../../../shared/ui/button";
import { Empty } from "../../../shared/ui/feedback";
import { TextArea, TextField } from "../../../shared/ui/field";
import { Section } from "../../../shared/ui/page";
import { Table } from "../../../shared/ui/table";
import { api } from "../../session";
import { Act } from "../act";
import { ModeBadge } from "../badges";

type Client = Operators.ClientDetail;
type Kind = "deposits" | "withdrawals" | "floor";

const words = text.operator.clients.money;
const KINDS: readonly Kind[] = ["deposits", "withdrawals", "floor"];

interface MoneyProps {
  readonly client: Client;
  readonly may: boolean;
  readonly onDone: () => void;
}

export function Money({ client, may, onDone }: MoneyProps) {
  const open = useSignal<Kind | undefined>(undefined);
  return (
    <Section
      title={words.title}
      actions={
        may
          ? KINDS.map((kind) => (
              <Button key={kind} onClick={() => (open.value = kind)}>
                {words.kinds[kind].act}
              </Button>
            ))
          : undefined
      }
    >
      {client.balances.length === 0 ? (
        <Empty title={words.none} />
      ) : (
        <Table
          caption={words.title}
          columns={[
            { name: words.columns.currency, cell: ({ currency }: Client["balances"][number]) => currency },
            { name: words.columns.mode, cell: ({ sandbox }) => <ModeBadge sandbox={sandbox} /> },
            { name: words.columns.available, number: true, cell: ({ available, currency }) => money(available, currency) },
            { name: words.columns.reserved, number: true, cell: ({ reserved, currency }) => money(reserved, currency) },
            { name: words.columns.credit, number: true, cell: ({ credit, currency }) => money(credit, currency) },
          ]}
          rows={client.balances}
          id={({ currency, sandbox }) => `${currency} ${sandbox}`}
        />
      )}
      {open.value === undefined ? null : (
        <Move client={client} kind={open.value} onDone={onDone} onClose={() => (open.value = undefined)} />
      )}
    </Section>
  );
}

/** The form of a deposit, a withdrawal or a credit line. */
function Move({ client, kind, onDone, onClose }: Omit<MoneyProps, "may"> & { kind: Kind; onClose: () => void }) {
  const currency = useSignal("EUR");
  const amount = useSignal("");
  const reference = useSignal("");
  const evidence = useSignal("");
  const said = words.kinds[kind];
  const params = { id: client.client_id };
  const run = (reason: string, idempotencyKey: string) => {
    const common = { currency: currency.value.trim(), reference: reference.value.trim(), evidence: evidence.value.trim() };
    const why = reason === "" ? {} : { reason };
    if (kind !== "floor") {
      const body = { ...common, ...why, amount: amount.value.trim() };
      return api.value.call("POST", `/operator/clients/{id}/${kind}`, { params, body, idempotencyKey });
    }
    // The credit is how far below zero the money may fall: the floor is that, with a sign.
    const below = /^[0.]*$/.test(amount.value.trim()) ? "0" : `-${amount.value.trim()}`;
    return api.value.call("PUT", "/operator/clients/{id}/floor", { params, body: { ...common, ...why, amount: below }, idempotencyKey });
  };
  return (
    <Act
      title={said.title(client.name)}
      what={said.what(typedMoney(amount.value.trim(), currency.value.trim()))}
      rule="money"
      act={said.act}
      reason="optional"
      run={run}
      done={said.done}
      onDone={onDone}
      onClose={onClose}
    >
      {(wrong) => (
        <>
          <TextField
            label={words.columns.currency}
            maxLength={3}
            value={currency.value}
            onValue={(value) => (currency.value = value.toUpperCase())}
            error={wrong("/currency")}
          />
          <TextField
            label={said.amount}
            inputMode="decimal"
            value={amount.value}
            onValue={(value) => (amount.value = value)}
            error={wrong("/amount")}
          />
          <TextField
            label={words.reference}
            hint={words.referenceHint}
            value={reference.value}
            onValue={(value) => (reference.value = value)}
            error={wrong("/reference")}
          />
          <TextArea
            label={words.evidence}
            hint={words.evidenceHint}
            rows={2}
            value={evidence.value}
            onValue={(value) => (evidence.value = value)}
            error={wrong("/evidence")}
          />
        </>
      )}
    </Act>
  );
}
