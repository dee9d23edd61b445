// The pages of the documentation: which file of the repository is at which address, and in which group of the sidebar.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** In the order in which a newcomer reads them. */
const START = [
  "first-settlement",
  "going-live",
  "webhooks",
  "receipts",
  "phones",
  "embedding-in-rust",
  "writing-a-rail",
  "postgresql",
  "running",
].map((name) => `docs/start/${name}.md`);

/** Files outside of docs/, by the address that they have on the site. */
const ELSEWHERE = {
  "README.md": "/docs/readme",
  "CHANGELOG.md": "/docs/changelog",
  "BENCHMARKS.md": "/docs/benchmarks",
  "bindings-wasm/npm/README.md": "/docs/packages/npm",
  "bindings-uniffi/README.md": "/docs/packages/phones",
  "bindings-uniffi/kotlin/README.md": "/docs/packages/kotlin",
  "bindings-uniffi/swift/README.md": "/docs/packages/swift",
  "bindings-uniffi/python/README.md": "/docs/packages/python",
};

/** What a file is called in lists, where its heading alone would not say it. */
const LABELS = {
  "README.md": "The project",
  "bindings-wasm/npm/README.md": "JavaScript (npm)",
  "bindings-uniffi/README.md": "What Kotlin, Swift and Python share",
  "bindings-uniffi/kotlin/README.md": "Kotlin",
  "bindings-uniffi/swift/README.md": "Swift",
  "bindings-uniffi/python/README.md": "Python",
  "docs/rails/README.md": "How rails work",
  "docs/operations/README.md": "Being on call",
  "docs/adr/README.md": "All decisions",
};

const PACKAGES = Object.keys(ELSEWHERE).filter((file) => file.startsWith("bindings-"));
/** Tables and lists to look something up in; everything else in docs/ itself is a guide. */
const REFERENCE = ["docs/lifecycle.md", "docs/signature-policy.md", ...Object.keys(ELSEWHERE).filter((file) => !PACKAGES.includes(file))];

/** Pages that are not made from a file: the server or a script fills them. */
const MADE = [
  { url: "/docs/try", label: "Try it in this tab", group: "Start" },
  { url: "/docs/api", label: "API reference", group: "Reference" },
  { url: "/docs/problems", label: "Error codes", group: "Reference" },
];

const markdown = (folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .sort((a, b) => Number(b === "README.md") - Number(a === "README.md") || a.localeCompare(b))
    .map((name) => `${folder}/${name}`);

/** The address of a file of docs/: its path; a README is its folder. */
const addressOf = (file) => ELSEWHERE[file] ?? `/${file.replace(/\.md$/, "").replace(/\/README$/, "")}`;

function page(group, file) {
  const source = readFileSync(join(root, file), "utf8");
  const [, title] = /^# (.+)$/m.exec(source) ?? [];
  if (title === undefined) throw new Error(`${file} has no heading`);
  const plain = title.replaceAll(/[`*]/g, "");
  // What explains a heading, after its colon, is for the page itself.
  const label = LABELS[file] ?? (group === "Decisions" ? plain.replace(/^(\d+)\. /, "$1 · ") : plain.replace(/: .*/, ""));
  return { group, file, url: addressOf(file), title: LABELS[file] ?? plain, label, source };
}

function grouped(group, files) {
  const made = MADE.filter((one) => one.group === group).map((one) => ({ ...one, title: one.label }));
  return { title: group, pages: [...made, ...files.map((file) => page(group, file))] };
}

/** The groups of the sidebar, each with its pages. A new file of docs/ is a guide by itself. */
export function groups() {
  const known = new Set([...START, ...REFERENCE]);
  const missing = [...known].filter((file) => !existsSync(join(root, file)));
  if (missing.length > 0) throw new Error(`pages of the documentation that do not exist: ${missing.join(", ")}`);
  const guides = markdown("docs").filter((file) => !known.has(file));
  const all = [
    grouped("Start", START),
    grouped("Guides", guides),
    grouped("Rails", markdown("docs/rails")),
    grouped("Operations", markdown("docs/operations")),
    grouped("Reference", REFERENCE),
    grouped("Packages", PACKAGES),
    grouped("Decisions", markdown("docs/adr")),
  ];
  const labels = all.flatMap(({ pages }) => pages.map(({ label }) => label));
  const twice = labels.filter((label, n) => labels.indexOf(label) !== n);
  if (twice.length > 0) throw new Error(`pages of the documentation with the same name: ${twice.join(", ")}`);
  return all;
}

/** Where a link in a file leads: an address of the site, a file of the repository that is not on it, or somewhere else. */
export function resolved(from, href, pages) {
  if (/^[a-z]+:/.test(href)) return { outside: href };
  const [path, anchor] = href.split("#");
  const file = path === "" ? from : normalize(join(dirname(from), path)).replace(/\/$/, "");
  const target = pages.find((one) => one.file === file) ?? pages.find((one) => one.file === `${file}/README.md`);
  if (target !== undefined) return { page: target, anchor };
  if (path.startsWith("/")) return { outside: href };
  if (existsSync(join(root, file))) return { file };
  throw new Error(`${from}: the link ${href} leads nowhere`);
}
