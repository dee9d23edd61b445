/** Live keys work when an operator approved them: until then, this waits and says so. */

import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { RailgateError } from "railgate/client";
import { text } from "../shared/text";
import { Page } from "../shared/ui/page";
import { Copy } from "../shared/ui/values";
import { useData } from "./data";
import { type Identity, api, resumeLive } from "./session";

const EVERY_MS = 3_000;

export function Approved({ identity, children }: { identity: Identity; children: ComponentChildren }) {
  return identity.kind === "client" && identity.environment === "live" ? <Asked identity={identity}>{children}</Asked> : <>{children}</>;
}

/** Asks for something small: a key that waits is refused even that. */
async function isApproved(signal: AbortSignal): Promise<boolean> {
  try {
    await api.value.balances({ signal });
    return true;
  } catch (error) {
    if (error instanceof RailgateError && error.code === "enrollment_pending") return false;
    // The view itself says what is wrong.
    return true;
  }
}

function Asked({ identity, children }: { identity: Identity; children: ComponentChildren }) {
  const [approved, setApproved] = useState(false);
  const data = useData(isApproved, [identity.profile, approved], { on: false, ...(approved ? {} : { everyMs: EVERY_MS }) });
  useEffect(() => {
    if (data.value !== true || approved) return;
    setApproved(true);
    resumeLive();
  }, [data.value]);
  if (approved) return <>{children}</>;
  if (data.value === undefined) return null;
  return (
    <Page title={text.signIn.pending}>
      <p>{text.signIn.pendingText}</p>
      <p>
        <Copy value={identity.id} />
      </p>
    </Page>
  );
}
