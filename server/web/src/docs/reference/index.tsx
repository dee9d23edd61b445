/**
 * The reference of the interface, from the OpenAPI document of this server. Renderers that exist make styles or markup of texts at run
 * time, which the policy of these pages forbids: docs/adr/0016 has what was tried.
 */

import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { common } from "../../shared/text/common";
import { Button } from "../../shared/ui/button";
import { Loading } from "../../shared/ui/feedback";
import { type Reference, load } from "./document";
import { OperationPage } from "./operation";
import { Overview } from "./overview";
import { words } from "./text";

const BASE = "/docs/api";

/** The call that the address names; empty for all. */
const shown = signal("");

function follow(): void {
  shown.value = decodeURIComponent(location.pathname.slice(BASE.length + 1));
}

/** Links between calls do not load the document again. */
function stay(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const inside = link !== null && link.origin === location.origin && (link.pathname === BASE || link.pathname.startsWith(`${BASE}/`));
  if (!inside || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.pathname === location.pathname && link.hash !== "") return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  follow();
  afterwards(() => {
    const target = link.hash === "" ? null : document.getElementById(link.hash.slice(1));
    if (target === null) scrollTo(0, 0);
    else target.scrollIntoView();
    document.querySelector<HTMLElement>("article h1")?.focus({ preventScroll: true });
  });
}

/** When what the address names is on the page. */
const afterwards = (work: () => void): number => requestAnimationFrame(() => setTimeout(work));

function Pages() {
  const [reference, setReference] = useState<Reference | undefined>();
  const [failed, setFailed] = useState(false);
  const read = (): void => {
    setFailed(false);
    load().then(setReference, () => setFailed(true));
  };
  useEffect(read, []);
  const operation = reference?.operations.get(shown.value);
  useEffect(() => {
    const titles = [operation?.summary.replaceAll("`", ""), words.title, words.site];
    document.title = titles.filter((title) => title !== undefined).join(" · ");
  }, [operation]);
  useEffect(() => {
    if (reference !== undefined && location.hash !== "") document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [reference]);
  if (failed) {
    return (
      <div role="alert">
        <p>{words.failed}</p>
        <Button onClick={read}>{common.retry}</Button>
      </div>
    );
  }
  if (reference === undefined) return <Loading />;
  if (shown.value === "") return <Overview reference={reference} />;
  if (operation !== undefined) return <OperationPage operation={operation} reference={reference} />;
  return (
    <>
      <h1>{words.title}</h1>
      <p>{words.unknown(shown.value)}</p>
      <a href={BASE}>{words.all}</a>
    </>
  );
}

export function start(at: HTMLElement): void {
  // Its own headings take the place of those that the page has without a script.
  for (const element of at.parentElement?.querySelectorAll(":scope > h1, :scope > .lead") ?? []) element.remove();
  follow();
  addEventListener("popstate", follow);
  document.addEventListener("click", stay);
  render(<Pages />, at);
}
