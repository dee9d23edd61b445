import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { RailgateError } from "railgate/client";
import { text } from "../text";
import { Button, IconButton } from "./button";
import { Problem } from "./feedback";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}

/** A modal dialog. Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <IconButton label={text.close} icon="close" onClick={onClose} />
      </header>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** What exactly happens. */
  readonly what: ComponentChildren;
  /** Who has to confirm; by default nobody else. */
  readonly who?: string;
  /** The name of the act, on its button. */
  readonly act: string;
  readonly danger?: boolean;
  readonly busy: boolean;
  readonly problem: RailgateError | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** Further fields. */
  readonly children?: ComponentChildren;
}

/** Asks before an act that cannot be undone: says what it does and who confirms it. */
export function Confirm(props: ConfirmProps) {
  const { title, what, who = text.dialog.self, act, danger = true, busy, problem, onConfirm, onClose, children } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) onConfirm();
        }}
      >
        <dl class="facts">
          <dt>{text.dialog.what}</dt>
          <dd>{what}</dd>
          <dt>{text.dialog.who}</dt>
          <dd>{who}</dd>
        </dl>
        {children}
        {problem === undefined ? null : <Problem problem={problem} />}
        <footer class="dialog-foot">
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button type="submit" kind={danger ? "danger" : "primary"} busy={busy}>
            {act}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
