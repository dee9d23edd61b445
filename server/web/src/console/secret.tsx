/** A secret that is shown once: whoever gets one puts it here, and it is gone when the dialog is closed. */

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
      <p>{text.signIn.secretText}</p>
      <p>
        <Copy value={secret.value} label={text.copy} />
      </p>
      <footer class="dialog-foot">
        <Button kind="primary" onClick={close}>
          {text.signIn.secretDone}
        </Button>
      </footer>
    </Dialog>
  );
}
