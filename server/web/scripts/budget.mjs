// What a first visit loads, compressed as the server sends it, without what single views add later. Fails above the budget.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { build, dist } from "./folders.mjs";

const KIB = 1024;
/** Pages, with their budgets in bytes and the fewest files that a page without a mistake of this script has. */
const PAGES = [
  { name: "the console", page: "console/index.html", budget: 150 * KIB, files: 4 },
  { name: "the first page of the documentation", page: "docs/index.html", budget: 60 * KIB, files: 3 },
  { name: "a guide", page: "docs/start/first-settlement.html", budget: 60 * KIB, files: 3 },
];

/** The page, what it names, and what those scripts import before they run. */
function loaded(page) {
  const found = new Set([page]);
  const follow = (name, pattern) => {
    for (const [, path] of readFileSync(join(build, name), "utf8").matchAll(pattern)) {
      const next = path.startsWith("/") ? path.slice(1) : join(name, "..", path);
      if (found.has(next)) continue;
      found.add(next);
      if (next.endsWith(".js")) follow(next, /(?:^|[;}])(?:import|export)[^"'()]*["'`](\.[^"'`]+\.js)["'`]/g);
    }
  };
  follow(page, /(?:src|href)="(\/console\/assets\/[^"]+)"/g);
  return [...found];
}

let broken = false;
for (const { name, page, budget, files: fewest } of PAGES) {
  const files = loaded(page).map((file) => [file, statSync(join(dist, `${file}.br`)).size]);
  const sum = files.reduce((all, [, size]) => all + size, 0);
  for (const [file, size] of files) console.log(`${String(size).padStart(8)}  ${file}`);
  console.log(`${String(sum).padStart(8)}  of ${budget} bytes: the first load of ${name}`);
  broken ||= files.length < fewest || sum > budget;
}
if (broken) process.exit(1);
