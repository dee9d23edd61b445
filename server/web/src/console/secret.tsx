/** A secret that is shown once: whoever gets one puts it here, and it is gone when the dialog is closed. It is empty if its answer got lost. */

import { signal } from "@preact/signals";
import { text } from "../shared/text";
import { Button } from "../shared/ui/button";
import { Dialog } from "../shared/ui/dialog";
import { Copy } from "../shared/ui/values";

export const secret = signal<string | undefined>(undefined);

export function SecretOnce() {
  if (secret.value === undefined) return null;
  const close = () => (secret.value = undefined);
  return (
    <Dialog title={text.signIn.secretTitle} onClose={close}>
      <p>{secret.value === "" ? text.signIn.secretLost : text.signIn.secretText}</p>
      {secret.value === "" ? null : (
        <p>
          <Copy value={secret.value} label={text.copy} />
        </p>
      )}
      <footer class="dialog-foot">
        <Button kind="primary" onClick={close}>
          {secret.value === "" ? text.close : text.signIn.secretDone}
        </Button>
      </footer>
    </Dialog>
  );
}
