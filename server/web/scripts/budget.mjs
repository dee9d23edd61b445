// What a first visit of the console loads, compressed as the server sends it, without what single views add later. Fails above the budget.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { build, dist } from "./folders.mjs";

const BUDGET = 150 * 1024;

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

const files = loaded("console/index.html").map((name) => [name, statSync(join(dist, `${name}.br`)).size]);
const sum = files.reduce((all, [, size]) => all + size, 0);
for (const [name, size] of files) console.log(`${String(size).padStart(8)}  ${name}`);
console.log(`${String(sum).padStart(8)}  of ${BUDGET} bytes: the first load of the console`);
if (files.length < 4 || sum > BUDGET) process.exit(1);
