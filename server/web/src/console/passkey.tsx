/** Passkeys that lock keys: the choice when a key is made, what an identity says of its own, and what helps if one is lost. */

import type { Signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Support } from "../shared/passkey/ceremony";
import { text } from "../shared/text";
import { Button } from "../shared/ui/button";
import { Problem, say } from "../shared/ui/feedback";
import { CheckField } from "../shared/ui/field";
import { Section } from "../shared/ui/page";
import { useAct } from "./data";
import { type Identity, lock } from "./session";

const words = text.signIn.passkey;

/** Whether passkeys can lock keys here; `undefined` until the browser has said so. */
function useSupport(): Support | undefined {
  const [found, setFound] = useState<Support | undefined>(undefined);
  useEffect(() => {
    void import("../shared/passkey/ceremony").then(async ({ support }) => setFound(await support()));
  }, []);
  return found;
}

/** The name of a passkey, as the browser lists it. */
export const passkeyName = (name: string, environment: Identity["environment"]): string =>
  words.nameOf(name, (environment === "live" ? text.live : text.sandbox).toLowerCase());

/** Whether a passkey is to lock a key that is made. `chosen` stays false where there are none. */
export function PasskeyField({ chosen, advised = false }: { chosen: Signal<boolean>; advised?: boolean }) {
  const support = useSupport();
  useEffect(() => {
    if (advised && support === "ready") chosen.value = true;
  }, [support]);
  if (support === undefined) return null;
  if (support !== "ready") return <p class="hint">{words[support]}</p>;
  return (
    <CheckField label={words.choose} hint={words.chooseHint} checked={chosen.value} onValue={(checked) => (chosen.value = checked)} />
  );
}

/** What somebody can do whose passkey is gone. */
export function LostPasskey({ kind }: { kind: Identity["kind"] }) {
  return (
    <details>
      <summary>{words.lost}</summary>
      <p class="note">{kind === "operator" ? words.lostOperator : words.lostClient}</p>
    </details>
  );
}

/** Whether a passkey locks the key of the identity that is signed in; a client's can be replaced by one that is locked. */
export function PasskeyState({ identity, onDone }: { identity: Identity; onDone: () => void }) {
  const support = useSupport();
  const act = useAct(() => lock(passkeyName(identity.name, identity.environment)));
  if (identity.locked === true) {
    return (
      <Section title={words.title}>
        <p class="note">{words.on}</p>
        <LostPasskey kind={identity.kind} />
      </Section>
    );
  }
  if (support === undefined) return null;
  if (support !== "ready") {
    return (
      <Section title={words.title}>
        <p class="note">{words[support]}</p>
      </Section>
    );
  }
  return (
    <Section title={words.title} note={words.off}>
      <p class="note">{identity.kind === "operator" ? words.operator : words.offer}</p>
      {act.problem === undefined ? null : <Problem problem={act.problem} />}
      {identity.kind === "operator" ? null : (
        <div>
          <Button
            icon="shield"
            busy={act.busy}
            onClick={() =>
              void act.run().then((done) => {
                if (!done) return;
                say(words.done);
                onDone();
              })
            }
          >
            {words.lock}
          </Button>
        </div>
      )}
    </Section>
  );
}
