/** What surrounds every view: the navigation, the bar at the top, and what is said about the connection. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { text } from "../shared/text";
import { Button } from "../shared/ui/button";
import { Dialog } from "../shared/ui/dialog";
import { Icon } from "../shared/ui/icon";
import { Badge } from "../shared/ui/values";
import { Account } from "./account";
import { helping, searching } from "./keyboard";
import { back, lost } from "./live";
import { href, path } from "./router";
import type { Identity } from "./session";
import type { View } from "./views";

type Placed = View & { nav: NonNullable<View["nav"]> };

const isPlaced = (view: View): view is Placed => view.nav !== undefined;
const isHere = (view: View): boolean => path.value === view.path || (view.path !== "/" && path.value.startsWith(`${view.path}/`));

interface ShellProps {
  readonly views: readonly View[];
  readonly identity: Identity;
  readonly children: ComponentChildren;
}

export function Shell({ views, identity, children }: ShellProps) {
  const account = useSignal(false);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        {text.skip}
      </a>
      <Navigation views={views.filter(isPlaced)} />
      <div class="column">
        <Connection />
        <header class="top">
          <button type="button" class="search-open" onClick={() => (searching.value = true)}>
            <Icon name="search" size={16} />
            <span>{text.palette.placeholder}</span>
            <kbd>Ctrl K</kbd>
          </button>
          <span class="grow" />
          {identity.environment === "live" ? <Badge tone="accent">{text.live}</Badge> : <Badge>{text.sandbox}</Badge>}
          <Button kind="quiet" icon="keyboard" aria-label={text.keyboard.title} onClick={() => (helping.value = true)} />
          <button type="button" class="account-open" aria-haspopup="dialog" onClick={() => (account.value = true)}>
            <Icon name="person" />
            <span>{identity.name}</span>
          </button>
        </header>
        <main id="main" class="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      {account.value ? <Account identity={identity} onClose={() => (account.value = false)} /> : null}
    </div>
  );
}

function Navigation({ views }: { views: readonly Placed[] }) {
  const open = useSignal(false);
  useEffect(() => {
    open.value = false;
  }, [path.value]);
  const beyond = views.filter(({ nav }) => nav.bar !== true);
  return (
    <nav class="nav" aria-label={text.navigation}>
      <a class="brand" href={href("/")}>
        {text.product}
      </a>
      <ul>
        {views.map((view, n) => (
          <li key={view.path} class={view.nav.bar === true ? "in-bar" : undefined}>
            {view.nav.group !== undefined && view.nav.group !== views[n - 1]?.nav.group ? <p class="nav-group">{view.nav.group}</p> : null}
            <Item view={view} />
          </li>
        ))}
        {beyond.length === 0 ? null : (
          <li class="in-bar only-bar">
            <button
              type="button"
              class="nav-item"
              data-here={beyond.some(isHere) || undefined}
              aria-haspopup="dialog"
              onClick={() => (open.value = true)}
            >
              <Icon name="more" />
              <span>{text.more}</span>
            </button>
          </li>
        )}
      </ul>
      {open.value ? (
        <Dialog title={text.more} onClose={() => (open.value = false)}>
          <ul class="drawer">
            {beyond.map((view) => (
              <li key={view.path}>
                <Item view={view} />
              </li>
            ))}
          </ul>
        </Dialog>
      ) : null}
    </nav>
  );
}

function Item({ view }: { view: Placed }) {
  return (
    <a class="nav-item" href={href(view.path)} aria-current={isHere(view) ? "page" : undefined}>
      <Icon name={view.nav.icon} />
      <span>{view.nav.label}</span>
    </a>
  );
}

function Connection() {
  return (
    <div role="status" aria-live="polite">
      {lost.value ? (
        <p class="banner bad">
          <span class="spinner" aria-hidden="true" />
          {text.connection.lost}
        </p>
      ) : back.value ? (
        <p class="banner good">
          <Icon name="check" size={16} />
          {text.connection.back}
        </p>
      ) : null}
    </div>
  );
}
