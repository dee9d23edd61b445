/** Texts of signing in and of identities. */

export const signIn = {
  title: "Sign in",
  intro:
    "Every call of this console is signed with a key that is made here and stays in this browser. " +
    "Nobody can copy it, and there is no password.",
  unlock: (name: string) => `Unlock ${name}`,
  passkey: {
    choose: "Lock the key with a passkey",
    chooseHint: "This device then asks for your fingerprint, face or PIN at each sign-in. Without it, the key on this device is useless.",
    address: "Passkeys need a host name, such as localhost. At this address the key is not locked.",
    browser: "This browser has no passkeys that can lock a key: whoever can use this browser can sign in.",
    nameOf: (name: string, environment: string) => `${name} (${environment})`,
    title: "Passkey",
    on: "A passkey locks this key. Signing out locks it again, and so does closing this page.",
    off: "No passkey locks this key: whoever can use this browser can sign in.",
    offer:
      "This makes a new key that only your passkey unlocks, adds it to this client and revokes the key of this browser, " +
      "which cannot be locked afterwards.",
    operator: "The key of an operator is locked when it is made: ask for another invitation, and have this operator revoked.",
    lock: "Lock with a passkey",
    done: "A passkey now locks your key. The old key is revoked.",
    lost: "Lost the passkey?",
    lostClient:
      "The key cannot be unlocked without it. With another key of the same client, under Keys, revoke this one. Without another key, " +
      "start a new client here; for live access, ask again, and have an operator of the gateway suspend the old one.",
    lostOperator:
      "The key cannot be unlocked without it. Ask an administrator of the gateway to revoke you and to invite you again, " +
      "and sign in with the new code.",
    gone: "The key is no longer in this browser. Remove the identity, and make a new key.",
    problems: {
      passkey_refused: "The passkey was not used: it was refused, took too long, or is not on this device. Nothing has changed.",
      passkey_unsupported: "This passkey cannot lock a key: it lacks the WebAuthn extension prf. Use another one, or none.",
      passkey_wrong: "This passkey does not unlock this key.",
      passkey_failed: "The browser could not use a passkey.",
    },
  },
  here: "Identities in this browser",
  use: (name: string) => `Use ${name}`,
  client: "Client",
  operator: "Operator",
  newClient: "New sandbox client",
  newClientIntro: "Makes a key and a client with play money. No real money moves.",
  name: "Name of the client",
  nameHint: "Shown on receipts and to operators.",
  invitation: "Invitation code",
  invitationHint: "Only if this gateway invites its clients.",
  enroll: "Make a key and start",
  newOperator: "Operator with an invitation",
  newOperatorIntro: "An administrator of this gateway made a code for you.",
  code: "Invitation code",
  yourName: "Your name",
  enrollOperator: "Make a key and sign in",
  working: "Making a key…",
  switch: "Identities",
  current: "Signed in as",
  another: "Add an identity",
  signOut: "Sign out",
  signOutTitle: (name: string) => `Sign out as ${name}?`,
  signOutWhat:
    "This deletes the key from this browser. It cannot be restored: to sign in again, another key of the same client must add a new one.",
  lockOut: "Sign out",
  remove: "Delete the key",
  removeTitle: (name: string) => `Delete the key of ${name}?`,
  signOutRevoke: "Also revoke the key at the gateway",
  signOutConfirm: "Delete the key and sign out",
  removeConfirm: "Delete the key",
  pending: "Waiting for approval",
  pendingText: "An operator of this gateway decides about live access. This page continues by itself when the key is approved.",
  secretTitle: "Webhook secret",
  secretText: "Receivers verify messages with this secret. It is shown once: copy it now, or make another one later.",
  secretLost: "The secret was in a response that got lost. “Rotate the secret” on the page of the webhook makes another one.",
  secretDone: "I have copied it",
};
