// The package as a user has it: packed like `npm publish` does, and installed into a project of its own.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * A new project that depends on the package; `examples` are copied into it.
 *
 * Give the folder back with `remove()`.
 */
export function project() {
  const folder = mkdtempSync(join(tmpdir(), "railgate-project-"));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "railgate"), { recursive: true });
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  execFileSync("tar", ["-xzf", join(folder, tarball), "-C", join(modules, "railgate"), "--strip-components=1"]);
  // What it depends on, and what the examples do.
  for (const name of ["eventsource-parser", "jsqr"]) symlinkSync(join(root, "node_modules", name), join(modules, name));
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, maxRetries: 20 }) };
}
