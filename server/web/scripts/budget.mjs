// What a first visit of the console loads, compressed as the server sends it: the page, the code that signs, and the first view of
// a client. Further views are loaded when they are shown. Fails above the budget.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { build, dist } from "./folders.mjs";

const BUDGET = 150 * 1024;
const PAGE = "console/index.html";

const manifest = JSON.parse(readFileSync(join(build, ".vite/manifest.json"), "utf8"));
// The npm package's client is a part that several import: Vite names it by its file.
const SIGNING = Object.keys(manifest).find((name) => manifest[name].name === "client");
const LOADED = [PAGE, SIGNING, "src/console/client/overview.tsx"];

const files = new Set([PAGE]);
const follow = (name) => {
  const part = manifest[name];
  if (part === undefined) throw new Error(`${name} is not in the build`);
  if (files.has(part.file)) return;
  for (const file of [part.file, ...(part.css ?? []), ...(part.assets ?? [])]) files.add(file);
  for (const next of part.imports ?? []) follow(next);
};
LOADED.forEach(follow);

const sizes = [...files].map((name) => [name, statSync(join(dist, `${name}.br`)).size]);
const sum = sizes.reduce((all, [, size]) => all + size, 0);
for (const [name, size] of sizes) console.log(`${String(size).padStart(8)}  ${name}`);
console.log(`${String(sum).padStart(8)}  of ${BUDGET} bytes: the first load of the console`);
if (sum > BUDGET) process.exit(1);
