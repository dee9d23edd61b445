// What a first visit loads, compressed as the server sends it, without what single views add later. Fails above the budget.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { build, dist } from "./folders.mjs";

const KIB = 1024;
const manifest = JSON.parse(readFileSync(join(build, ".vite/manifest.json"), "utf8"));
// The npm package's client is a part that several import: Vite names it by its file.
const SIGNING = Object.keys(manifest).find((name) => manifest[name].name === "client");
const DOCS = "docs/index.html";

/** Pages, the parts that each loads, and its budget in bytes. The console: the code that signs, and the first view of a client. */
const PAGES = [
  { name: "the console", page: "console/index.html", parts: ["console/index.html", SIGNING, "src/console/client/overview.tsx"], budget: 150 * KIB },
  { name: "the first page of the documentation", page: DOCS, parts: [DOCS], budget: 60 * KIB },
  { name: "a guide", page: "docs/start/first-settlement.html", parts: [DOCS], budget: 60 * KIB },
];

/** The page, and the files of those parts with what they import before they run. */
function loaded(page, parts) {
  const files = new Set([page]);
  const followed = new Set();
  const follow = (name) => {
    const part = manifest[name];
    if (part === undefined) throw new Error(`${name} is not in the build`);
    if (followed.has(name)) return;
    followed.add(name);
    // A page of the documentation is made from the template, which is not itself loaded.
    const own = part.file.endsWith(".html") ? [] : [part.file];
    for (const file of [...own, ...(part.css ?? []), ...(part.assets ?? [])]) files.add(file);
    (part.imports ?? []).forEach(follow);
  };
  parts.forEach(follow);
  return [...files];
}

let broken = false;
for (const { name, page, parts, budget } of PAGES) {
  const sizes = loaded(page, parts).map((file) => [file, statSync(join(dist, `${file}.br`)).size]);
  const sum = sizes.reduce((all, [, size]) => all + size, 0);
  for (const [file, size] of sizes) console.log(`${String(size).padStart(8)}  ${file}`);
  console.log(`${String(sum).padStart(8)}  of ${budget} bytes: the first load of ${name}`);
  broken ||= sum > budget;
}
if (broken) process.exit(1);
