/** Texts of signing in and of identities. */

export const signIn = {
  title: "Sign in",
  intro:
    "Every call of this console is signed with a key that is made here and stays in this browser. " +
    "Nobody can copy it, and there is no password.",
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
  another: "Another identity",
  signOut: "Sign out",
  signOutTitle: (name: string) => `Sign out as ${name}?`,
  signOutWhat:
    "This deletes the key from this browser. It cannot be restored: to sign in again, another key of the same client must add a new one.",
  signOutRevoke: "Also revoke the key at the gateway",
  signOutConfirm: "Delete the key and sign out",
  pending: "Waiting for approval",
  pendingText: "An operator of this gateway decides about live access. This page continues by itself when the key is approved.",
  secretTitle: "Webhook secret",
  secretText: "Receivers verify messages with this secret. It is shown once: copy it now, or make another one later.",
  secretDone: "I have copied it",
};
