// Checks the public declarations: every exported name and member has a doc comment, and nothing is `any`.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./modules.mjs";

/** Declarations that need a doc comment. */
const DECLARATION = /^(export )?(declare |abstract )*(class|function|interface|type|const) \w|^ {4}(static |readonly |get |async )*[\w[\].]+\??(\(|:|<)/;
/** Declarations that need none: private, or documented by `Error`. */
const PRIVATE = /^ {4}(private |#|constructor\(|override |_|readonly name: string;)/;

/** The files with importable names: entries, and the files that they re-export. */
function shown() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(root, types)]));
  const handedOn = entries.flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/^export [^;]*? from "(\.\/[^"]*)\.js";$/gm)].map(([, name]) => join(root, "dist", `${name}.d.ts`)),
  );
  return new Set([...entries, ...handedOn]);
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
