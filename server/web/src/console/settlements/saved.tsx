/** Views under a name: filters that this browser remembers. */

import { signal, useSignal } from "@preact/signals";
import { text } from "../../shared/text";
import { kept } from "../../shared/kept";
import { Button, IconButton } from "../../shared/ui/button";
import { Dialog } from "../../shared/ui/dialog";
import { TextField } from "../../shared/ui/field";
import { path, query, ROOT } from "../router";

const words = text.settlements;

interface Saved {
  readonly name: string;
  /** The query of its address. */
  readonly query: string;
}

const stored = kept<readonly Saved[]>("views", []);
const views = signal(stored.read());

function change(next: readonly Saved[]): void {
  views.value = next;
  stored.write(next);
}

/** The query without the page that is open. */
function current(): string {
  const search = new URLSearchParams(query.value);
  search.delete("cursor");
  return search.toString();
}

export function SavedViews() {
  const saving = useSignal(false);
  const here = current();
  return (
    <>
      {views.value.length === 0 ? null : (
        <ul class="saved" aria-label={words.views}>
          {views.value.map((view) => (
            <li key={view.name}>
              <a href={`${ROOT}${path.value}?${view.query}`} aria-current={view.query === here ? "true" : undefined}>
                {view.name}
              </a>
              <IconButton
                icon="close"
                label={words.removeView(view.name)}
                onClick={() => change(views.value.filter(({ name }) => name !== view.name))}
              />
            </li>
          ))}
        </ul>
      )}
      {here === "" || views.value.some((view) => view.query === here) ? null : (
        <Button icon="plus" onClick={() => (saving.value = true)}>
          {words.saveView}
        </Button>
      )}
      {saving.value ? <SaveView query={here} onClose={() => (saving.value = false)} /> : null}
    </>
  );
}

function SaveView({ query, onClose }: { query: string; onClose: () => void }) {
  const name = useSignal("");
  return (
    <Dialog title={words.saveViewTitle} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change([...views.value.filter((view) => view.name !== name.value), { name: name.value.trim(), query }]);
          onClose();
        }}
      >
        <p>{words.saveViewText}</p>
        <TextField label={words.viewName} value={name.value} onValue={(value) => (name.value = value)} maxLength={40} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button type="submit" kind="primary">
            {text.save}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
