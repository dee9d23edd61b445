// Markdown as HTML without any script, style or markup of its own: the site's policy allows none.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import http from "highlight.js/lib/languages/http";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import nginx from "highlight.js/lib/languages/nginx";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import session from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import toml from "highlight.js/lib/languages/ini";
import yaml from "highlight.js/lib/languages/yaml";
import { Marked } from "marked";

const LANGUAGES = {
  bash,
  http,
  javascript,
  json,
  kotlin,
  nginx,
  python,
  rust,
  sql,
  swift,
  toml,
  yaml,
  console: session,
  sh: bash,
  js: javascript,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

export const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The text of inline tokens, without their marks. */
function plain(tokens) {
  const text = (token) => (token.type === "br" ? " " : token.tokens === undefined ? (token.text ?? "") : plain(token.tokens));
  return tokens.map(text).join("");
}

/** Anchors as those who write the pages know them: lower case, spaces as hyphens, a number if there are several. */
export function anchors() {
  const used = new Map();
  return (text) => {
    const base = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-");
    const count = used.get(base) ?? 0;
    used.set(base, count + 1);
    return count === 0 ? base : `${base}-${count}`;
  };
}

function code({ text, lang = "" }) {
  const [name] = lang.split(/[\s,]/);
  if (name !== "" && hljs.getLanguage(name) === undefined) throw new Error(`nothing highlights ${name}`);
  const content = name === "" ? escape(text) : hljs.highlight(text, { language: name }).value;
  return `<pre tabindex="0"><code>${content}\n</code></pre>\n`;
}

/** Code within a text; a flag stays on one line. */
const codespan = ({ text }) =>
  `<code>${escape(text).replaceAll(/(?<![\w-])--[a-z][\w-]*/g, '<span class="flag">$&</span>')}</code>`;

/** Names and paths in the code of a cell, which a narrow column breaks after a mark, not within a word. */
const breakable = (html) =>
  html.replaceAll(/<code>(.+?)<\/code>/g, (code) => code.replaceAll(/(?<=[\w};][/_.:]+)(?=\w|&lt;)/g, "<wbr>"));

/** A table that scrolls by itself where the screen is narrower. */
function table({ header, rows }) {
  // An arrow stays beside what it leads to.
  const cell = (tag, of) => `<${tag}>${breakable(this.parser.parseInline(of.tokens)).replaceAll("→ ", "→&nbsp;")}</${tag}>`;
  const row = (tag, cells) => `<tr>${cells.map((of) => cell(tag, of)).join("")}</tr>`;
  const head = header.every(({ text }) => text === "") ? "" : `<thead>${row("th", header)}</thead>`;
  return `<div class="scroll" tabindex="0"><table>${head}<tbody>${rows.map((cells) => row("td", cells)).join("")}</tbody></table></div>\n`;
}

/**
 * A file's HTML, its headings (`{ depth, id, text }`), its sections for the search (`{ id, heading, above, text }`) and its first paragraph.
 * `link` returns the address of a link and the title of a page that it leads to, or `{ file }` for one that leads into the source only.
 */
export function rendered(source, link) {
  const headings = [];
  const name = anchors();
  const renderer = {
    code,
    codespan,
    table,
    html: ({ text }) => (text.startsWith("<!--") ? "" : escape(text)),
    heading({ tokens, depth }) {
      const text = plain(tokens);
      const id = name(text);
      headings.push({ depth, id, text });
      const mark = depth === 1 ? "" : `<a class="anchor" href="#${id}" aria-label="Link to “${escape(text)}”">#</a>`;
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${mark}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const { url, file, title } = link(href);
      if (url === undefined) return `<span class="source" title="In the source: ${file}">${text}</span>`;
      // A file by its path is a page by its title.
      return `<a href="${escape(url)}">${title !== undefined && plain(tokens).endsWith(".md") ? escape(title) : text}</a>`;
    },
  };
  const marked = new Marked({ gfm: true, renderer });
  const tokens = marked.lexer(source);
  const html = marked.parser(tokens);
  const first = tokens.find(({ type }) => type === "paragraph");
  return {
    html,
    headings,
    sections: sections(tokens, headings),
    summary: first === undefined ? "" : plain(first.tokens).replaceAll(/\s+/g, " "),
  };
}

/** The words of a token, with those of its rows, items and code. */
function words(token) {
  if (token.type === "html" || token.type === "space") return "";
  if (token.type === "table")
    return [token.header, ...token.rows]
      .flat()
      .map(({ tokens }) => plain(tokens))
      .join(" ");
  if (token.type === "list") return token.items.map((item) => item.tokens.map(words).join(" ")).join(" ");
  return token.tokens === undefined ? (token.text ?? "") : plain(token.tokens);
}

/** What is searched: the text under each heading. */
function sections(tokens, headings) {
  const found = [];
  for (const token of tokens) {
    if (token.type === "heading") {
      const { id, text, depth } = headings[found.length];
      // Below it, a heading such as "Added" says nothing by itself.
      const above = depth > 2 ? headings.slice(0, found.length).findLast((one) => one.depth === 2)?.text : undefined;
      found.push({ id, heading: text, above, text: "" });
    } else if (found.length > 0) {
      found.at(-1).text += ` ${words(token)}`;
    }
  }
  return found.map((section) => ({ ...section, text: section.text.replaceAll(/\s+/g, " ").trim() }));
}
