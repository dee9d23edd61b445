// Prints the licences of what a compiled file contains, with their texts, each text once:
//
//   node licences.mjs METADATA TREE OTHERS [LICENCE OF THE PROJECT…]
//
// METADATA is of `cargo metadata`, TREE what `cargo tree` lists of the crates that are inside. OTHERS has a line for each thing that is no
// crate: its name, its licence, and the files of its texts, separated by tabs.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const [metadataFile, treeFile, othersFile] = process.argv.slice(2);
const TEXT = /^(licen[cs]e|copying|copyright|notice|unlicense|authors)/i;

const packages = new Map(JSON.parse(readFileSync(metadataFile, "utf8")).packages.map((one) => [`${one.name} v${one.version}`, one]));
// A line is `name v1.2.3`, and more if it is not from the registry.
const built = new Set(readFileSync(treeFile, "utf8").split("\n").filter(Boolean).map((line) => line.split(" ").slice(0, 2).join(" ")));
const crates = [...built].map((name) => packages.get(name)).filter((one) => one.source !== null);

const textsIn = (folder) =>
  readdirSync(folder)
    .filter((name) => TEXT.test(name) && statSync(join(folder, name)).isFile())
    .sort()
    .map((name) => read(join(folder, name)));

// Without what differs between copies of one text: ends of lines, and HTML around it.
function read(path) {
  const raw = readFileSync(path, "utf8");
  const text = path.endsWith(".html") ? unmarked(raw) : raw;
  return text.replaceAll("\r\n", "\n").replace(/[ \t]+$/gm, "").replace(/\n{3,}/g, "\n\n").replace(/^\n+|\n+$/g, "");
}

const ENTITIES = { lt: "<", gt: ">", quot: '"', amp: "&" };

function unmarked(html) {
  return html.replace(/<(style|head)[^]*?<\/\1>/g, "").replace(/<[^>]+>/g, "").replace(/&(#x?[0-9a-f]+|\w+);/gi, (whole, name) => {
    if (name.startsWith("#")) return String.fromCodePoint(Number(`0${name.slice(1)}`.replace(/^0(?=\d)/, "")));
    return ENTITIES[name] ?? whole;
  });
}

// A crate that is packed without its text: the one of its repository's other crates, else the one that its licence names.
function textsOf(crate) {
  const own = textsIn(dirname(crate.manifest_path));
  if (own.length > 0) return own;
  const siblings = crate.repository && crates.filter((one) => one !== crate && one.repository === crate.repository && one.license === crate.license);
  for (const sibling of siblings || []) {
    const texts = textsIn(dirname(sibling.manifest_path));
    if (texts.length > 0) return texts;
  }
  // Whose text is the same for everybody.
  const same = crate.license === "MPL-2.0" ? [...packages.values()].filter((one) => one.license === crate.license) : [];
  const found = same.map((one) => textsIn(dirname(one.manifest_path))).find((texts) => texts.length > 0);
  if (found !== undefined) return found;
  if (/\bApache-2\.0\b/.test(crate.license)) return [read("LICENSE-APACHE")];
  if (crate.license === "MIT") return [read("LICENSE-MIT").replace(/^Copyright.*$/m, `Copyright (c) ${crate.authors.join(", ")}`)];
  throw new Error(`no text of the licence ${crate.license} of ${crate.name} is known`);
}

const things = crates
  .map((crate) => ({ name: `${crate.name} ${crate.version}`, licence: crate.license, texts: textsOf(crate) }))
  .concat(
    readFileSync(othersFile, "utf8").split("\n").filter(Boolean).map((line) => {
      const [name, licence, ...files] = line.split("\t");
      return { name, licence, texts: files.map(read) };
    }),
  )
  .sort((a, b) => (a.name < b.name ? -1 : 1));

const holders = new Map();
for (const { name, texts } of things) {
  for (const text of texts) holders.set(text, [...(holders.get(text) ?? []), name]);
}
const line = "=".repeat(100);
console.log("What this contains of others, and under which licences. The texts follow, each with what it is of.\n");
for (const { name, licence } of things) console.log(`${name}: ${licence}`);
for (const [text, names] of holders) console.log(`\n${line}\n${names.join(", ")}\n${line}\n\n${text}`);
