// Checks the public declarations: every exported name and member has a doc comment, nothing is `any`, and all of them are as they are in
// `surface.txt`. Whatever is gone or different from there breaks an app; `RAILGATE_BLESS=1` writes the text again, for a review of the
// difference.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./modules.mjs";

/** Declarations that need a doc comment. */
const DECLARATION = /^(export )?(declare |abstract )*(class|function|interface|type|const) \w|^ {4}(static |readonly |get |async )*[\w[\].]+\??(\(|:|<)/;
/** Declarations that need none: private, or documented by `Error`. */
const PRIVATE = /^ {4}(private |#|constructor\(|override |_|readonly name: string;)/;

/** The declarations of the entries. */
function entries() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(root, types)]));
}

/** The files with importable names: entries, and the files that they re-export. */
function shown() {
  const handedOn = entries().flatMap((path) => named(path, /^export [^;]*? from "(\.\/[^"]*)\.js";$/gm));
  return new Set([...entries(), ...handedOn]);
}

/** The files that a file names. */
function named(path, pattern) {
  return [...readFileSync(path, "utf8").matchAll(pattern)].map(([, name]) => join(dirname(path), `${name}.d.ts`));
}

/** Those that are generated, and compared with what they are generated from. */
const GENERATED = new Set(["types", "routes"].map((name) => join(root, "dist", `${name}.d.ts`)));

/** What can be named by an app or reached from there: all declarations but the generated ones, without comments and private members. */
function surface() {
  const reached = new Set();
  const reach = (path) => {
    if (reached.has(path) || GENERATED.has(path)) return;
    reached.add(path);
    for (const next of named(path, /\b(?:from |import\()"(\.[^"]*)\.js"/g)) reach(next);
  };
  for (const path of entries()) reach(path);
  return [...reached].sort().map((path) => `// ${relative(join(root, "dist"), path)}\n${bare(readFileSync(path, "utf8"))}`).join("\n");
}

function bare(declarations) {
  const lines = declarations.replace(/\/\*[^]*?\*\//g, "").split("\n");
  return lines.filter((line) => line.trim() !== "" && !/^(import |\/\/\/| {4}(private |#))/.test(line)).map((line) => `${line.trimEnd()}\n`).join("");
}

function compare() {
  const path = join(root, "surface.txt");
  const is = surface();
  if (process.env.RAILGATE_BLESS === "1") return writeFileSync(path, is);
  const was = readFileSync(path, "utf8");
  if (is === was) return;
  const [now, before] = [is, was].map((text) => new Set(text.split("\n")));
  const gone = [...before].filter((line) => !now.has(line)).map((line) => `- ${line}`);
  const added = [...now].filter((line) => !before.has(line)).map((line) => `+ ${line}`);
  throw new Error(`the declarations differ from surface.txt; if they are to, RAILGATE_BLESS=1\n${[...gone, ...added].join("\n")}`);
}

function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return files(path);
    return entry.name.endsWith(".d.ts") ? [path] : [];
  });
}

/** The lines of a declaration file with `any` or a missing doc comment. */
function faults(path, commented) {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.flatMap((line, n) => {
    const code = line.replace(/\/\*.*?\*\/|"[^"]*"/g, "").replace(/^\s*\*.*$/, "");
    const any = /\bany\b/.test(code) ? [`${path}:${n + 1}: any`] : [];
    const named = commented && DECLARATION.test(code) && !PRIVATE.test(code);
    const bare = named && !/\*\/\s*$/.test(lines[n - 1] ?? "") ? [`${path}:${n + 1}: no comment: ${line.trim()}`] : [];
    return [...any, ...bare];
  });
}

const commented = shown();
const found = files(join(root, "dist")).flatMap((path) => faults(path, commented.has(path)));
if (found.length > 0) throw new Error(`\n${found.join("\n")}`);
compare();
