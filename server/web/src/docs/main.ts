/** What a page of the documentation does besides being read: its theme, its search, and the parts that a script fills. */

import { docs } from "../shared/text/docs";
import { THEMES, type Theme, applyTheme, chooseTheme, theme } from "../shared/theme";

applyTheme();

/** An element that the template has. */
function part<T extends HTMLElement>(selector: string): T {
  const found = document.querySelector<T>(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
}

function offerThemes(): void {
  const select = part<HTMLSelectElement>("#theme");
  for (const one of THEMES) select.append(new Option(docs.themes[one], one, false, one === theme.value));
  select.addEventListener("change", () => chooseTheme(select.value as Theme));
  part(".docs-theme").hidden = false;
}

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));

/** The search is loaded when it is opened, with its index. */
function offerSearch(): void {
  const button = part<HTMLButtonElement>("#search");
  const open = async (): Promise<void> => (await import("./search")).openSearch();
  button.hidden = false;
  button.addEventListener("click", () => void open());
  document.addEventListener("keydown", (event) => {
    const palette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !typing(event.target);
    if ((!palette && !slash) || document.querySelector("dialog[open]") !== null) return;
    event.preventDefault();
    void open();
  });
}

/** A button on each block of code; what it copies leaves out the prompt and the output of a session. */
function offerCopies(): void {
  for (const block of document.querySelectorAll<HTMLElement>("article pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy-code";
    button.textContent = docs.copy;
    button.addEventListener("click", () => {
      const lines = (block.querySelector("code")?.textContent ?? "").trimEnd().split("\n");
      const typed = lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2));
      void navigator.clipboard.writeText((typed.length > 0 ? typed : lines).join("\n")).then(() => {
        button.textContent = docs.copied;
      });
    });
    const frame = document.createElement("div");
    frame.className = "code";
    block.replaceWith(frame);
    frame.append(block, button);
  }
}

/** Where the reader is, in a list that is longer than the screen. */
function showPlace(): void {
  const pages = part("#pages");
  const here = pages.querySelector<HTMLElement>("[aria-current]");
  if (here !== null && here.offsetTop > pages.clientHeight) pages.scrollTop = here.offsetTop - pages.clientHeight / 2;
}

/** The parts that a script fills; each is loaded with its page only. */
const APPS: Record<string, () => Promise<{ start: (at: HTMLElement) => void }>> = {
  try: () => import("./try"),
  reference: () => import("./reference"),
};

async function startApp(): Promise<void> {
  const at = document.querySelector<HTMLElement>("#app");
  if (at !== null) (await APPS[at.dataset.app ?? ""]?.())?.start(at);
}

offerThemes();
offerSearch();
offerCopies();
showPlace();
void startApp();
