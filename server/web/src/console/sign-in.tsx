/** Signing in: an identity of this browser, or a new one with a key of its own. */

import { useSignal } from "@preact/signals";
import { text } from "../shared/text";
import { Button, IconButton } from "../shared/ui/button";
import { Problem } from "../shared/ui/feedback";
import { TextField, errorOf } from "../shared/ui/field";
import { Page, Section } from "../shared/ui/page";
import { Badge } from "../shared/ui/values";
import { SignOut } from "./account";
import { useAct } from "./data";
import { LostPasskey, PasskeyField, passkeyName } from "./passkey";
import { type Identity, enrollClient, enrollOperator, failure, identities, use } from "./session";
import { secret } from "./secret";

const words = text.signIn;

export function SignIn() {
  return (
    <main class="sign-in">
      <p class="brand">{text.product}</p>
      <Page title={words.title}>
        <p class="note">{words.intro}</p>
        {failure.value === undefined ? null : <Problem problem={failure.value} reads />}
        {identities.value.length === 0 ? null : <Known />}
        <div class="split">
          <NewClient />
          <NewOperator />
        </div>
      </Page>
    </main>
  );
}

function Known() {
  const removing = useSignal<Identity | undefined>(undefined);
  const locked = identities.value.find((identity) => identity.locked === true);
  return (
    <Section title={words.here}>
      <ul class="identities">
        {identities.value.map((identity) => (
          <li key={identity.profile}>
            <Button icon={identity.locked === true ? "shield" : "person"} onClick={() => void use(identity)}>
              {identity.locked === true ? words.unlock(identity.name) : words.use(identity.name)}
            </Button>
            <Badge>{identity.kind === "operator" ? words.operator : words.client}</Badge>
            <Badge tone={identity.environment === "live" ? "accent" : "wait"}>
              {identity.environment === "live" ? text.live : text.sandbox}
            </Badge>
            <IconButton icon="close" label={`${text.remove} ${identity.name}`} onClick={() => (removing.value = identity)} />
          </li>
        ))}
      </ul>
      {locked === undefined ? null : <LostPasskey kind={locked.kind} />}
      {removing.value === undefined ? null : <SignOut identity={removing.value} onClose={() => (removing.value = undefined)} />}
    </Section>
  );
}

function NewClient() {
  const name = useSignal("");
  const invitation = useSignal("");
  const lock = useSignal(false);
  const act = useAct(async () => {
    const passkey = lock.value ? passkeyName(name.value.trim(), "sandbox") : undefined;
    secret.value = await enrollClient(name.value.trim(), invitation.value.trim(), passkey);
  });
  return (
    <Section title={words.newClient} note={words.newClientIntro}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act.run();
        }}
      >
        <TextField
          label={words.name}
          hint={words.nameHint}
          value={name.value}
          onValue={(value) => (name.value = value)}
          error={errorOf(act.problem, "/client_name")}
        />
        <TextField
          label={words.invitation}
          hint={words.invitationHint}
          optional
          value={invitation.value}
          onValue={(value) => (invitation.value = value)}
          error={errorOf(act.problem, "/invitation")}
        />
        <PasskeyField chosen={lock} />
        {act.problem === undefined ? null : <Problem problem={act.problem} />}
        <Button type="submit" kind="primary" busy={act.busy}>
          {act.busy ? words.working : words.enroll}
        </Button>
      </form>
    </Section>
  );
}

function NewOperator() {
  const code = useSignal("");
  const name = useSignal("");
  const lock = useSignal(false);
  const act = useAct(() => {
    const called = name.value.trim();
    return enrollOperator(code.value.trim(), called, lock.value ? passkeyName(called || words.operator, "live") : undefined);
  });
  return (
    <Section title={words.newOperator} note={words.newOperatorIntro}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act.run();
        }}
      >
        <TextField label={words.code} value={code.value} onValue={(value) => (code.value = value)} error={errorOf(act.problem, "/code")} />
        <TextField label={words.yourName} optional value={name.value} onValue={(value) => (name.value = value)} />
        <PasskeyField chosen={lock} advised />
        {act.problem === undefined ? null : <Problem problem={act.problem} />}
        <Button type="submit" busy={act.busy}>
          {act.busy ? words.working : words.enrollOperator}
        </Button>
      </form>
    </Section>
  );
}
