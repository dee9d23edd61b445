// Compresses the built sites with Brotli into dist/, where the server's build finds them. Files that did not change keep their
// modification time, so that the server is not built again for nothing.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { constants, brotliCompressSync } from "node:zlib";
import { build, dist } from "./folders.mjs";

const QUALITY = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };

const files = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    // Vite's manifest is for the budget alone.
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith(".vite"))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

// `built` is the mark of scripts/web.sh.
const wanted = new Map(
  files(build)
    .filter((name) => name !== "built")
    .map((name) => [`${name}.br`, join(build, name)]),
);
for (const name of files(dist)) if (name.endsWith(".br") && !wanted.has(name)) rmSync(join(dist, name));
for (const [name, source] of wanted) {
  const target = join(dist, name);
  const compressed = brotliCompressSync(readFileSync(source), { params: QUALITY });
  if (existsSync(target) && readFileSync(target).equals(compressed)) continue;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, compressed);
}
