// What surrounds the text of a page: the sidebar, what is on the page, and what comes before and after.

import { escape } from "./markdown.js";

/** Groups that only those open who look for something in them. */
const CLOSED = new Set(["Rails", "Operations", "Packages", "Decisions"]);

function item({ url, label }, current) {
  return `<li><a href="${url}"${url === current ? ' aria-current="page"' : ""}>${escape(label)}</a></li>`;
}

/** The sidebar, as seen from the page at `current`. */
export function sidebar(groups, current) {
  const group = ({ title, pages }) => {
    const open = !CLOSED.has(title) || pages.some(({ url }) => url === current);
    const items = pages.map((page) => item(page, current)).join("");
    return `<details${open ? " open" : ""}><summary>${title}</summary><ul>${items}</ul></details>`;
  };
  return groups.map(group).join("");
}

/** What is on the page, if that is worth a list. */
export function contents(headings) {
  const parts = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (parts.length < 3) return "";
  const links = parts.map(({ depth, id, text }) => `<li class="depth-${depth}"><a href="#${id}">${escape(text)}</a></li>`).join("");
  return `<nav class="toc" aria-label="On this page"><p>On this page</p><ul>${links}</ul></nav>`;
}

/** The pages before and after, in the order of the sidebar. */
export function neighbours(groups, current) {
  const all = groups.flatMap(({ pages }) => pages);
  const here = all.findIndex(({ url }) => url === current);
  if (here < 0) return "";
  const link = (page, rel, text) =>
    page === undefined ? "" : `<a href="${page.url}" rel="${rel}"><span>${text}</span>${escape(page.label)}</a>`;
  const links = link(all[here - 1], "prev", "Previous") + link(all[here + 1], "next", "Next");
  return `<nav class="neighbours" aria-label="Next and previous page">${links}</nav>`;
}

/** The first page: where a newcomer begins, and where everybody else looks. */
export function home(groups) {
  const [start, ...others] = groups;
  const sentence = (text) => /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
  const card = ({ url, label, summary }) => `<li><a href="${url}">${escape(label)}</a><p>${escape(sentence(summary))}</p></li>`;
  const list = ({ title, pages }) =>
    `<section><h2>${title}</h2><ul class="links">${pages.map((page) => item(page, undefined)).join("")}</ul></section>`;
  return `<h1>railgate documentation</h1>
<p class="lead">A settlement gateway that you can embed: create a payment, trace it, reverse it.
Each page under Start takes five minutes.</p>
<section><h2>${start.title}</h2><ul class="cards">${start.pages.map(card).join("")}</ul></section>
<div class="columns">${others.map(list).join("")}</div>`;
}

/** A page from the template, whose comments say what belongs where. */
export function filled(template, parts) {
  let page = template;
  for (const [name, content] of Object.entries(parts)) {
    const place = `<!-- ${name} -->`;
    if (!page.includes(place)) throw new Error(`the template has no place for ${name}`);
    page = page.replaceAll(place, () => content);
  }
  return page;
}
