// Packs the package as `npm publish` would, and checks it with publint and are-the-types-wrong.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./modules.mjs";

const folder = mkdtempSync(join(tmpdir(), "railgate-pack-"));
try {
  const run = (command, ...args) => execFileSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  run("npm", "pack", "--silent", "--pack-destination", folder);
  const [tarball] = readdirSync(folder);
  run("npx", "publint", "run", "--strict", join(folder, tarball));
  run("npx", "attw", "--profile", "esm-only", "--no-emoji", "--format", "table-flipped", join(folder, tarball));
} finally {
  rmSync(folder, { recursive: true });
}
