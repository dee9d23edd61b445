/** The receipt of a settlement: every form of it, and verified here with the gateway's public keys. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type ReceiptClaims, RailgateError, type Settlement } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Problem, Shown } from "../../shared/ui/feedback";
import { Icon } from "../../shared/ui/icon";
import { Section } from "../../shared/ui/page";
import { Copy, Facts, Money } from "../../shared/ui/values";
import { useAct, useData } from "../data";
import { save } from "../save";
import { api } from "../session";
import { isPaid } from "../settlements/paid";

const words = text.settlement;

type Form = keyof typeof words.forms;
const ENDINGS: Record<Form, string> = {
  "application/json": "json",
  "application/jose": "jws",
  "application/pdf": "pdf",
  "text/html": "html",
  "text/plain": "txt",
  "image/svg+xml": "svg",
};
const FORMS = Object.keys(ENDINGS) as readonly Form[];

async function content(ref: string, form: Form): Promise<string | Uint8Array> {
  const client = api.value;
  if (form === "application/json") return JSON.stringify(await client.receipt(ref), null, 2);
  return form === "application/pdf" ? client.receiptAs(ref, form) : client.receiptAs(ref, form);
}

export function ReceiptSection({ settlement }: { settlement: Settlement }) {
  const has = isPaid(settlement);
  return <Section title={words.receipt}>{has ? <Receipt settlement={settlement} /> : <p class="note">{words.receiptLater}</p>}</Section>;
}

function Receipt({ settlement }: { settlement: Settlement }) {
  const { id, reference, version } = settlement;
  const client = api.value;
  const data = useData((signal) => client.receipt(id, { signal }), [id, version], { on: false });
  const saving = useAct(async (form: Form) => save(`receipt-${reference}.${ENDINGS[form]}`, await content(id, form), form));
  return (
    <Shown data={data}>
      {(receipt) => (
        <div class="receipt">
          <div class="receipt-facts">
            <Facts
              rows={[
                [words.id, <Copy key="id" value={receipt.id} />],
                [words.issuer, receipt.issuer],
                [words.amount, <Money key="amount" amount={receipt.amount} currency={receipt.currency} />],
                [words.key, <Copy key="key" value={receipt.key_id} />],
                ...(receipt.supersedes === null ? [] : ([[words.supersedes, <code key="old">{receipt.supersedes}</code>]] as const)),
              ]}
            />
            <Verification jws={receipt.jws} />
            <div class="chips">
              {FORMS.map((form) => (
                <Button key={form} onClick={() => void saving.run(form)}>
                  {words.forms[form]}
                </Button>
              ))}
            </div>
            {saving.problem === undefined ? null : <Problem problem={saving.problem} reads />}
          </div>
          <Qr id={id} version={version} />
        </div>
      )}
    </Shown>
  );
}

/** Checks the signature in this browser: the code for it is loaded when somebody asks. */
function Verification({ jws }: { jws: string }) {
  const claims = useSignal<ReceiptClaims | "forged" | undefined>(undefined);
  useEffect(() => void (claims.value = undefined), [jws]);
  const act = useAct(async () => {
    const [{ verifyReceipt }, jwks] = await Promise.all([import("railgate/receipt"), api.value.jwks()]);
    try {
      claims.value = await verifyReceipt(jws, jwks);
    } catch (error) {
      if (!(error instanceof RailgateError) || error.code !== "receipt_invalid") throw error;
      claims.value = "forged";
    }
  });
  return (
    <div role="status">
      {claims.value === undefined ? (
        <Button icon="shield" kind="primary" busy={act.busy} onClick={() => void act.run()}>
          {words.verify}
        </Button>
      ) : claims.value === "forged" ? (
        <p class="verdict bad">
          <Icon name="warn" />
          {words.notVerified}
        </p>
      ) : (
        <p class="verdict good">
          <Icon name="check" />
          {words.verified}
        </p>
      )}
      {act.problem === undefined ? null : <Problem problem={act.problem} reads />}
    </div>
  );
}

function Qr({ id, version }: { id: string; version: number }) {
  const client = api.value;
  const data = useData((signal) => client.receiptAs(id, "image/svg+xml", { signal }), [id, version], { on: false });
  const address = useSignal("");
  useEffect(() => {
    if (data.value === undefined) return undefined;
    const made = URL.createObjectURL(new Blob([data.value], { type: "image/svg+xml" }));
    address.value = made;
    return () => URL.revokeObjectURL(made);
  }, [data.value]);
  return address.value === "" ? null : <img class="qr" src={address.value} alt={words.qr} width="400" height="400" />;
}
