/** What the keyboard does everywhere: the command palette, jumps, search and help. */

import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { text } from "../shared/text";
import { Dialog } from "../shared/ui/dialog";
import { Icon, type IconName } from "../shared/ui/icon";
import { go, href } from "./router";
import type { View } from "./views";

/** Whether the command palette is open. */
export const searching = signal(false);
/** Whether the help is open. */
export const helping = signal(false);

/** Something that the palette offers besides pages. A view adds its own while it is shown. */
export interface Command {
  readonly label: string;
  readonly icon: IconName;
  readonly run: () => void;
}

const commands = signal<readonly Command[]>([]);

/** Offers commands in the palette while a view is shown. */
export function useCommands(offered: readonly Command[]): void {
  const names = offered.map(({ label }) => label).join("\n");
  useEffect(() => {
    commands.value = [...commands.value, ...offered];
    return () => {
      commands.value = commands.value.filter((one) => !offered.includes(one));
    };
  }, [names]);
}

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));

/** How long a `g` waits for its second letter. */
const PREFIX_MS = 1_500;

export function Keyboard({ views }: { views: readonly View[] }) {
  const places = useMemo(() => views.filter(({ nav }) => nav !== undefined), [views]);
  useEffect(() => {
    let prefixed = 0;
    const press = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        helping.value = false;
        searching.value = true;
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]") !== null) return;
      const jump = event.timeStamp - prefixed < PREFIX_MS ? places.find(({ nav }) => nav?.key === event.key) : undefined;
      prefixed = event.key === "g" ? event.timeStamp : 0;
      if (jump !== undefined) go(href(jump.path));
      else if (event.key === "?") helping.value = true;
      else if (event.key === "/") {
        event.preventDefault();
        const field = document.querySelector<HTMLElement>("main [type=search]");
        if (field === null) searching.value = true;
        else field.focus();
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [places]);
  return (
    <>
      {searching.value ? <Palette places={places} /> : null}
      {helping.value ? <Help places={places} /> : null}
    </>
  );
}

function Palette({ places }: { places: readonly View[] }) {
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const close = () => (searching.value = false);
  const pages = places.map(
    ({ path, nav }) => ({ label: nav?.label ?? path, icon: nav?.icon ?? "next", run: () => go(href(path)) }) as const,
  );
  const all: readonly Command[] = [...pages, ...commands.value];
  const shown = all.filter(({ label }) => label.toLowerCase().includes(wanted.trim().toLowerCase()));
  const chosen = Math.min(at, shown.length - 1);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    close();
    command.run();
  };
  const press = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      const next = Math.min(Math.max(chosen + step, 0), shown.length - 1);
      setAt(next);
      list.current?.children[next]?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(shown[chosen]);
    }
  };
  return (
    <Dialog title={text.palette.title} onClose={close}>
      <input
        class="input"
        type="search"
        role="combobox"
        list={undefined}
        aria-expanded="true"
        aria-controls="palette"
        aria-label={text.palette.placeholder}
        aria-activedescendant={shown.length === 0 ? undefined : `palette-${chosen}`}
        placeholder={text.palette.placeholder}
        value={wanted}
        autofocus
        onKeyDown={press}
        onInput={(event) => {
          setWanted(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul class="palette" role="listbox" id="palette" aria-label={text.palette.title} ref={list}>
        {shown.map((command, n) => (
          <li
            key={command.label}
            id={`palette-${n}`}
            role="option"
            aria-selected={n === chosen}
            onClick={() => run(command)}
            onMouseMove={() => setAt(n)}
          >
            <Icon name={command.icon} />
            {command.label}
          </li>
        ))}
      </ul>
      {shown.length === 0 ? <p class="note">{text.palette.nothing}</p> : null}
    </Dialog>
  );
}

function Help({ places }: { places: readonly View[] }) {
  const words = text.keyboard;
  const keys: readonly (readonly [string, string])[] = [
    ["Ctrl K", words.palette],
    ["?", words.help],
    ["/", words.search],
    ["↓ ↑ j k", words.rows],
    ["Enter", words.open],
    ["n p", words.pages],
    ["Esc", words.escape],
    ...places.map(({ nav }) => [`g ${nav?.key ?? ""}`, words.go(nav?.label ?? "")] as const),
  ];
  return (
    <Dialog title={words.title} onClose={() => (helping.value = false)}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
