/** The search: an index that was built with the pages, so that it works without a network once it is loaded. */

import { signal } from "@preact/signals";
import MiniSearch, { type Options } from "minisearch";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { docs } from "../shared/text/docs";
import { Dialog } from "../shared/ui/dialog";
import SEARCHED from "./searched.json";

interface Entry {
  readonly id: number;
  readonly url: string;
  readonly page: string;
  readonly heading: string;
}

/** As many results as somebody reads. */
const SHOWN = 20;

const words = docs.search;
const open = signal(false);
let loading: Promise<MiniSearch<Entry>> | undefined;

async function load(): Promise<MiniSearch<Entry>> {
  const response = await fetch(document.documentElement.dataset.search ?? "");
  if (!response.ok) throw new Error(words.failed);
  return MiniSearch.loadJSONAsync<Entry>(await response.text(), SEARCHED as Options<Entry>);
}

/** The index, loaded once; after a failure the next search tries again. */
function index(): Promise<MiniSearch<Entry>> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

function Search() {
  const [found, setFound] = useState<MiniSearch<Entry> | undefined>();
  const [failed, setFailed] = useState(false);
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => {
    index().then(
      (ready) => setFound(() => ready),
      () => setFailed(true),
    );
  }, []);
  const results = wanted.trim() === "" || found === undefined ? [] : (found.search(wanted).slice(0, SHOWN) as unknown as Entry[]);
  const chosen = Math.min(at, results.length - 1);
  const go = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    open.value = false;
    location.assign(entry.url);
  };
  const press = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0 && event.key !== "Enter") return;
    event.preventDefault();
    if (step === 0) return go(results[chosen]);
    const next = Math.min(Math.max(chosen + step, 0), results.length - 1);
    setAt(next);
    document.getElementById(`found-${next}`)?.scrollIntoView({ block: "nearest" });
  };
  return (
    <Dialog title={words.title} onClose={() => (open.value = false)} wide>
      <input
        class="input"
        type="search"
        role="combobox"
        list={undefined}
        aria-expanded="true"
        aria-controls="found"
        aria-label={words.field}
        aria-activedescendant={results.length === 0 ? undefined : `found-${chosen}`}
        placeholder={words.field}
        autofocus
        value={wanted}
        onKeyDown={press}
        onInput={(event) => {
          setWanted(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul class="found" role="listbox" id="found" aria-label={words.title}>
        {results.map((entry, n) => (
          <li
            key={entry.id}
            id={`found-${n}`}
            role="option"
            aria-selected={n === chosen}
            onClick={() => go(entry)}
            onMouseMove={() => setAt(n)}
          >
            <span>{entry.heading}</span>
            <small>{entry.page}</small>
          </li>
        ))}
      </ul>
      <p class="hint" role="status">
        {failed
          ? words.failed
          : wanted.trim() === ""
            ? words.hint
            : results.length === 0
              ? words.nothing(wanted.trim())
              : words.found(results.length)}
      </p>
    </Dialog>
  );
}

const root = document.createElement("div");

function Root() {
  return open.value ? <Search /> : null;
}

/** Opens the search over whatever page is shown. */
export function openSearch(): void {
  if (!root.isConnected) {
    document.body.append(root);
    render(<Root />, root);
  }
  open.value = true;
}
