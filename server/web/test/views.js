// The addresses of all views, as the console itself lists them: a spec that goes through them forgets none.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/**
 * The address of each view of a kind of identity (`client` or `operator`), with `values` for its parameters: by the path with the
 * parameters as it is in the list, an address or several.
 */
export function addressesOf(kind, values) {
  const source = readFileSync(new URL(`../src/console/${kind}/views.ts`, import.meta.url), "utf8");
  const paths = [...source.matchAll(/\bpath: "([^"]+)"/g)].map(([, path]) => path);
  assert.ok(paths.length > 10, `${paths.length} views of ${kind}`);
  const unknown = Object.keys(values).filter((path) => !paths.includes(path));
  assert.deepEqual(unknown, [], "there are no such views");
  return paths.flatMap((path) => {
    if (!path.includes("/:")) return path;
    assert.ok(values[path] !== undefined, `the spec has no address of ${path}`);
    return values[path];
  });
}
