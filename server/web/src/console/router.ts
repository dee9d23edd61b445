/** Addresses of views: the path chooses the view, the query its filters. Every view can be shared, reloaded and gone back to. */

import { computed, signal } from "@preact/signals";

/** The address of the console, without a slash at its end. */
export const ROOT = "/console";

/** Values of a query; several with one name are in the order of the address. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const location = signal(new URL(globalThis.location.href));

/** The path below the console, such as `/settlements`. */
export const path = computed(() => location.value.pathname.slice(ROOT.length).replace(/\/+$/, "") || "/");

/** The query of the address. */
export const query = computed(() => location.value.searchParams);

/** The address of a view. */
export function href(to: string, values: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of typeof value === "string" ? [value] : (value ?? [])) if (one !== "") search.append(name, one);
  }
  const text = search.toString();
  return ROOT + (to === "/" ? "" : to) + (text === "" ? "" : `?${text}`);
}

/** Goes to a view. With `replace`, the way back skips the view that is left. */
export function go(address: string, { replace = false } = {}): void {
  const target = new URL(address, globalThis.location.origin);
  const stays = target.pathname === location.value.pathname;
  if (replace) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  location.value = target;
  if (!stays) globalThis.scrollTo(0, 0);
}

/** Changes values of the query and keeps the others; a change of filters begins at the first page again. */
export function refine(values: Query, { replace = false } = {}): void {
  const next: Record<string, string[]> = {};
  for (const name of query.value.keys()) next[name] = query.value.getAll(name);
  delete next["cursor"];
  for (const [name, value] of Object.entries(values)) next[name] = typeof value === "string" ? [value] : [...(value ?? [])];
  go(href(path.value, next), { replace });
}

/** Follows links within the console without loading it again. */
export function followLinks(): void {
  globalThis.addEventListener("popstate", () => (location.value = new URL(globalThis.location.href)));
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target !== "" || link.hasAttribute("download")) return;
    const within = link.origin === globalThis.location.origin && (link.pathname === ROOT || link.pathname.startsWith(`${ROOT}/`));
    if (!within) return;
    event.preventDefault();
    go(link.href);
  });
}

/** One step of a path; none if it is not encoded as it has to be, such as `%`. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** The parameters of `pattern`, such as `/settlements/:ref`, in a path; none if it does not match. */
export function match(pattern: string, given: string): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  const parts = given.split("/");
  if (wanted.length !== parts.length) return undefined;
  const found: Record<string, string> = {};
  for (const [n, part] of wanted.entries()) {
    const here = parts[n] ?? "";
    if (part.startsWith(":")) {
      const value = decoded(here);
      if (value === undefined) return undefined;
      found[part.slice(1)] = value;
    } else if (part !== here) return undefined;
  }
  return found;
}
