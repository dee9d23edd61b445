/** The proof that the last event of a settlement is in the log, and what this browser finds when it checks it. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ReceiptProof, Settlement, SettlementEvent } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Problem, Shown } from "../../shared/ui/feedback";
import { Icon } from "../../shared/ui/icon";
import { Section } from "../../shared/ui/page";
import { Copy, Facts } from "../../shared/ui/values";
import { useAct, useData } from "../data";
import { save } from "../save";
import { api } from "../session";

const words = text.settlement;

/** How often a proof that is not there yet is asked for. */
const SOON_MS = 5_000;

export function ProofSection({ settlement }: { settlement: Settlement }) {
  const client = api.value;
  const { id, version, reference } = settlement;
  const there = useSignal("");
  const wanted = `${id} ${version}`;
  const data = useData((signal) => client.proof(id, { signal }), [wanted], {
    on: false,
    // The tree goes on growing: the proof that is shown stays.
    ...(there.value === wanted ? {} : { everyMs: SOON_MS }),
  });
  useEffect(() => {
    if (data.value !== undefined) there.value = wanted;
  }, [data.value]);
  const soon = data.problem?.code === "not_logged_yet" && data.value === undefined;
  return (
    <Section title={words.proof} note={words.proofNote}>
      {soon ? (
        <p class="note">{words.proofSoon}</p>
      ) : (
        <Shown data={data}>
          {(proof) => (
            <>
              <Facts
                rows={[
                  [words.leaf, String(proof.leaf_index)],
                  [words.size, String(proof.tree_size)],
                  [words.hash, <Copy key="hash" value={proof.event_hash} />],
                ]}
              />
              <Verification proof={proof} />
              <div>
                <Button onClick={() => save(`${reference}.tlog-proof`, proof.proof, "text/plain")}>{words.proofDownload}</Button>
              </div>
            </>
          )}
        </Shown>
      )}
    </Section>
  );
}

/** What the check found: in order, each step that holds, and at most one that does not. */
interface Verdict {
  readonly held: readonly string[];
  readonly broken?: string;
}

const isProven = (verdict: Verdict | undefined): boolean => verdict !== undefined && verdict.broken === undefined;

/** All events of the settlement up to that of the proof. */
async function eventsUpTo({ settlement_id, sequence }: ReceiptProof): Promise<SettlementEvent[]> {
  const events: SettlementEvent[] = [];
  for await (const event of api.value.events(settlement_id)) {
    events.push(event);
    if (event.sequence === sequence) break;
  }
  return events;
}

/** Computes everything here: of what the gateway says, only the key of its log is taken as it is. */
async function verify(proof: ReceiptProof): Promise<Verdict> {
  const [log, events, keys] = await Promise.all([import("railgate/log"), eventsUpTo(proof), api.value.log.keys()]);
  const trace = await log.verifyTrace(events);
  if (!trace.unbroken) return { held: [], broken: words.traceBroken(trace.broken_at) };
  const held = [words.traceHolds(events.length)];
  const found = await log.verifyLogProof(proof.proof, trace.head, keys);
  if (!found.included) return { held, broken: words.proofBroken(found.reason) };
  return { held: [...held, words.proofHolds(found.index, found.size), words.headHolds(found.key)] };
}

/** Checks the proof in this browser: the code for it is loaded when somebody asks. */
function Verification({ proof }: { proof: ReceiptProof }) {
  const verdict = useSignal<Verdict | undefined>(undefined);
  const act = useAct(async () => {
    verdict.value = await verify(proof);
  });
  useEffect(() => void (verdict.value = undefined), [proof.event_hash]);
  return (
    <div role="status">
      {verdict.value === undefined ? null : <Found verdict={verdict.value} />}
      {isProven(verdict.value) ? null : (
        <Button icon="shield" kind="primary" busy={act.busy} onClick={() => void act.run()}>
          {verdict.value === undefined ? words.proofVerify : words.proofAgain}
        </Button>
      )}
      {act.problem === undefined ? null : <Problem problem={act.problem} reads />}
    </div>
  );
}

function Found({ verdict: { held, broken } }: { verdict: Verdict }) {
  return (
    <>
      <p class={`verdict ${broken === undefined ? "good" : "bad"}`}>
        <Icon name={broken === undefined ? "check" : "warn"} />
        {broken === undefined ? words.proofVerified : words.proofNotVerified}
      </p>
      <ul class="held">
        {[...held, ...(broken === undefined ? [] : [broken])].map((step) => (
          <li key={step} class={step === broken ? "broken" : undefined}>
            <Icon name={step === broken ? "warn" : "check"} size={16} />
            <span>{step}</span>
          </li>
        ))}
      </ul>
      {broken === undefined ? <p class="note">{words.proofTrust}</p> : null}
    </>
  );
}
