import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon";

interface ButtonProps extends Omit<JSX.IntrinsicElements["button"], "icon"> {
  /** `danger` does what cannot be undone; `warning` leads to a question about that. */
  readonly kind?: "primary" | "plain" | "danger" | "warning" | "quiet" | undefined;
  readonly icon?: IconName | undefined;
  /** While it works; it stays where it is and can be focused, but does nothing. */
  readonly busy?: boolean | undefined;
  readonly children?: ComponentChildren;
}

export function Button({ kind = "plain", icon, busy = false, children, onClick, type = "button", ...more }: ButtonProps) {
  return (
    <button
      {...more}
      type={type}
      class={`button ${kind}`}
      aria-busy={busy}
      aria-disabled={busy || undefined}
      onClick={(event) => (busy ? event.preventDefault() : onClick?.(event))}
    >
      {icon === undefined ? null : <Icon name={icon} size={16} />}
      {children}
    </button>
  );
}

/** A button of an icon alone; `label` names it. */
export function IconButton({ label, icon, ...more }: Omit<ButtonProps, "children"> & { label: string; icon: IconName }) {
  return <Button {...more} kind="quiet" icon={icon} aria-label={label} title={label} />;
}
