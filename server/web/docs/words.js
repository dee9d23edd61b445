// What the search finds: the sections of all pages, the operations of the interface, and the error codes.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import MiniSearch from "minisearch";
import { root } from "./pages.js";

/** The OpenAPI document as a test of the server holds it to the one that is served. */
const DOCUMENT = "server/tests/http/snapshots/http__document__the_document_as_a_whole.snap";
const CODES = "core/src/error.rs";
/** What the index has of each entry; the page that reads it takes the same. */
const SEARCHED = JSON.parse(readFileSync(new URL("../src/docs/searched.json", import.meta.url), "utf8"));

function operations() {
  const text = readFileSync(join(root, DOCUMENT), "utf8");
  const { paths } = JSON.parse(text.slice(text.indexOf("\n---\n") + 5));
  const each = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, of]) => ({ method, path, ...of })));
  return each.map(({ method, path, operationId, summary, description = "" }) => ({
    url: `/docs/api/${operationId}`,
    page: "API reference",
    heading: summary,
    text: `${method.toUpperCase()} ${path} ${operationId} ${description}`,
  }));
}

/** Every error code, as the macro in the core declares it. */
function codes() {
  const text = String.raw`"((?:[^"\\]|\\.)+)"`;
  const declared = new RegExp(String.raw`= "([a-z_]+)", \d{3}, \w+, (?:true|false), ${text},\s*${text},\s*${text};`, "g");
  // A backslash at the end of a line goes on with the next one.
  const source = readFileSync(join(root, CODES), "utf8").replaceAll(/\\\n\s*/g, "");
  const found = [...source.matchAll(declared)];
  return found.map(([, code, title, meaning, advice]) => ({
    url: `/docs/problems/${code}`,
    page: "Error codes",
    heading: `${code}: ${JSON.parse(`"${title}"`)}`,
    text: JSON.parse(`"${meaning} ${advice}"`),
  }));
}

/** The index, as the page loads it. */
export function index(pages) {
  const named = ({ group, label }) => (group === "Guides" ? label : `${group}: ${label}`);
  const entry = (page, { id, heading, above, text }, n) => ({
    url: n === 0 ? page.url : `${page.url}#${id}`,
    page: above === undefined ? named(page) : `${named(page)} › ${above}`,
    heading,
    text,
  });
  const sections = pages.flatMap((page) => page.sections.map((section, n) => entry(page, section, n)));
  const search = new MiniSearch(SEARCHED);
  search.addAll([...sections, ...operations(), ...codes()].map((entry, id) => ({ id, ...entry })));
  return JSON.stringify(search);
}
