/** The identity that is signed in: others of this browser, the theme, and signing out. */

import { useSignal } from "@preact/signals";
import { text } from "../shared/text";
import { THEMES, chooseTheme, theme } from "../shared/theme";
import { Button } from "../shared/ui/button";
import { Confirm, Dialog } from "../shared/ui/dialog";
import { CheckField, SelectField } from "../shared/ui/field";
import { Copy, Facts } from "../shared/ui/values";
import { useAct } from "./data";
import { PasskeyState } from "./passkey";
import { ROOT, go } from "./router";
import { type Identity, forget, identities, leave, use } from "./session";

export function Account({ identity, onClose }: { identity: Identity; onClose: () => void }) {
  const leaving = useSignal(false);
  const others = identities.value.filter(({ profile }) => profile !== identity.profile);
  if (leaving.value) return <SignOut identity={identity} onClose={onClose} />;
  const change = (next: () => Promise<void>) => () => {
    onClose();
    go(ROOT);
    void next();
  };
  return (
    <Dialog title={text.signIn.switch} onClose={onClose}>
      <Facts
        rows={[
          [text.signIn.current, identity.name],
          [identity.kind === "operator" ? text.signIn.operator : text.signIn.client, <Copy key="id" value={identity.id} />],
        ]}
      />
      <ul class="identities">
        {others.map((other) => (
          <li key={other.profile}>
            <Button icon={other.locked === true ? "shield" : "person"} onClick={change(() => use(other))}>
              {other.locked === true ? text.signIn.unlock(other.name) : text.signIn.use(other.name)}
            </Button>
          </li>
        ))}
        <li>
          <Button icon="plus" onClick={change(leave)}>
            {text.signIn.another}
          </Button>
        </li>
      </ul>
      <PasskeyState identity={identity} onDone={onClose} />
      <SelectField
        label={text.theme}
        value={theme.value}
        choices={THEMES.map((value) => ({ value, label: text.themes[value] }))}
        onValue={chooseTheme}
      />
      <footer class="dialog-foot">
        <Button kind="danger" onClick={() => (leaving.value = true)}>
          {identity.locked === true ? text.signIn.remove : text.signIn.signOut}
        </Button>
        {identity.locked === true ? (
          <Button kind="primary" icon="shield" onClick={change(leave)}>
            {text.signIn.lockOut}
          </Button>
        ) : null}
      </footer>
    </Dialog>
  );
}

/** Deletes a key, and with it an identity, after saying that this is for ever. */
export function SignOut({ identity, onClose }: { identity: Identity; onClose: () => void }) {
  const revoke = useSignal(false);
  // Signing out of a locked identity keeps its key.
  const locked = identity.locked === true;
  const act = useAct(() => forget(identity, revoke.value));
  return (
    <Confirm
      title={locked ? text.signIn.removeTitle(identity.name) : text.signIn.signOutTitle(identity.name)}
      what={text.signIn.signOutWhat}
      act={locked ? text.signIn.removeConfirm : text.signIn.signOutConfirm}
      busy={act.busy}
      problem={act.problem}
      onClose={onClose}
      onConfirm={() => void act.run().then((done) => done && onClose())}
    >
      <CheckField label={text.signIn.signOutRevoke} checked={revoke.value} onValue={(checked) => (revoke.value = checked)} />
    </Confirm>
  );
}
