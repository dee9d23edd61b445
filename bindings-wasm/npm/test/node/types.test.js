// The types in a project that installed the package, with only the project's own settings.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { project } from "../installed.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

let installed;
before(() => {
  installed = project();
  mkdirSync(join(installed.folder, "node_modules", "@types"));
  for (const name of ["@types/node", "undici-types"]) symlinkSync(join(root, "node_modules", name), join(installed.folder, "node_modules", name));
  copyFileSync(join(root, "test", "types", "consumer.ts"), join(installed.folder, "consumer.ts"));
  writeFileSync(join(installed.folder, "package.json"), JSON.stringify({ type: "module" }));
});
after(() => installed.remove());

for (const { name, lib, types } of [
  { name: "Node, without those of a browser", lib: ["es2022"], types: ["node"] },
  { name: "a browser, without disposables", lib: ["es2022", "dom"], types: [] },
]) {
  test(`nothing is any, and nothing is missing: ${name}`, () => {
    const compilerOptions = { lib, types, target: "es2022", module: "nodenext", strict: true, skipLibCheck: false, noEmit: true };
    const settings = join(installed.folder, "tsconfig.json");
    writeFileSync(settings, JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    try {
      execFileSync(process.execPath, [tsc, "--project", settings], { encoding: "utf8" });
    } catch ({ stdout, message }) {
      assert.fail(stdout ?? message);
    }
  });
}
