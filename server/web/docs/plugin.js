// Makes the pages of the documentation out of the template that Vite has built: Markdown becomes HTML here, so that a page can be read
// before any script runs, and without one.

import { createHash } from "node:crypto";
import { contents, filled, home, neighbours, sidebar } from "./layout.js";
import { escape, rendered } from "./markdown.js";
import { groups, resolved } from "./pages.js";
import { index } from "./words.js";

const TEMPLATE = "docs/index.html";

/** Pages that a script fills, with what they say until then. */
const APPS = {
  "/docs/try": {
    app: "try",
    summary: "Make payments that succeed, fail and fail over, in a sandbox inside this tab. Nothing is installed, and no server is asked.",
  },
  "/docs/api": {
    app: "reference",
    summary: "Every call of the interface, from the OpenAPI document of this server, to try in this tab or against this server.",
  },
};

/** The site, as every title ends with it. */
const SITE = "railgate docs";

/** Renders every page that is made from a file; throws if a link leads nowhere. */
function read(all) {
  const pages = all.flatMap((group) => group.pages);
  const leads = [];
  for (const page of pages.filter(({ source }) => source !== undefined)) {
    const link = (href) => {
      const to = resolved(page.file, href, pages);
      if (to.page === undefined) return to.outside === undefined ? to : { url: to.outside };
      if (to.anchor !== undefined) leads.push({ from: page.file, to: to.page, anchor: to.anchor, href });
      return { url: to.anchor === undefined ? to.page.url : `${to.page.url}#${to.anchor}`, title: to.page.title };
    };
    Object.assign(page, rendered(page.source, link));
  }
  const dead = leads.filter(({ to, anchor }) => to.headings?.every(({ id }) => id !== anchor));
  if (dead.length > 0) throw new Error(`dead links: ${dead.map(({ from, href }) => `${from}: ${href}`).join(", ")}`);
  for (const page of pages) Object.assign(page, APPS[page.url]);
  return pages;
}

/** The text of a page that a script fills. */
const empty = ({ app, label, summary }) =>
  `<h1>${escape(label)}</h1><p class="lead">${escape(summary)}</p><div id="app" data-app="${app}"></div>` +
  `<noscript><p>This page needs JavaScript. <a href="/openapi.json">The OpenAPI document</a> does not.</p></noscript>`;

/** The files of all pages, by name. */
function files(template, search) {
  const all = groups();
  const pages = read(all);
  const put = (url, { title, summary = "", headings = [] }, main, wide = false) =>
    filled(template.replace("<html ", `<html data-search="${search(pages)}" `), {
      title: title === SITE ? SITE : `${escape(title)} · ${SITE}`,
      summary: escape(summary.slice(0, 300)),
      sidebar: sidebar(all, url),
      form: wide ? "wide" : "prose",
      main,
      // Pages that are looked up are not read one after the other.
      neighbours: headings.length === 0 ? "" : neighbours(all, url),
      contents: contents(headings),
    });
  const made = pages.filter(({ url }) => url !== "/docs/problems");
  const texts = made.map((page) => [page.url, put(page.url, page, page.html ?? empty(page), page.app !== undefined)]);
  const missing =
    "<h1>There is no such page</h1><p>The address may be mistyped, or of another version. " +
    'Search for what you need, or begin at <a href="/docs">the first page</a>.</p>';
  return new Map([
    ...texts,
    ["/docs/index", put("/docs", { title: SITE, summary: "Guides, reference and decisions" }, home(all), true)],
    ["/docs/not-found", put("/docs/not-found", { title: "There is no such page" }, missing)],
    // The server fills it: the codes and their texts are in the core.
    ["/problem", put("/docs/problems", { title: "{{title}}" }, "{{problem}}")],
  ]);
}

export function documentation() {
  return {
    name: "documentation",
    enforce: "post",
    generateBundle(_, bundle) {
      const template = bundle[TEMPLATE];
      if (template === undefined) throw new Error(`${TEMPLATE} was not built`);
      let named;
      const search = (pages) => {
        if (named === undefined) {
          const source = index(pages.filter(({ sections }) => sections !== undefined));
          named = `console/assets/search-${createHash("sha256").update(source).digest("hex").slice(0, 8)}.json`;
          this.emitFile({ type: "asset", fileName: named, source });
        }
        return `/${named}`;
      };
      const made = files(String(template.source), search);
      template.source = made.get("/docs/index");
      made.delete("/docs/index");
      for (const [url, source] of made) this.emitFile({ type: "asset", fileName: `${url.slice(1)}.html`, source });
    },
  };
}
