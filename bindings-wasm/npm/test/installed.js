// The package as users get it: packed as by `npm publish`, and installed into a new project.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * A new project that depends on the package; `examples` are copied into it.
 *
 * Delete the folder with `remove()`.
 */
export function project() {
  const folder = mkdtempSync(join(tmpdir(), "railgate-project-"));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "railgate"), { recursive: true });
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  execFileSync("tar", ["-xzf", join(folder, tarball), "-C", join(modules, "railgate"), "--strip-components=1"]);
  // The dependencies of the package and of the examples.
  for (const name of ["eventsource-parser", "jsqr"]) symlinkSync(join(root, "node_modules", name), join(modules, name));
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, maxRetries: 20 }) };
}
