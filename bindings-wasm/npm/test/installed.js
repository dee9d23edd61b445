// The package as users get it: packed as by `npm publish`, and installed into a new project.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Packs a package and unpacks it into a project. */
function unpacked(source, folder, name) {
  const into = join(folder, "node_modules", name);
  mkdirSync(into, { recursive: true });
  execFileSync("npm", ["pack", "--silent", "--pack-destination", into], { cwd: source, stdio: ["ignore", "ignore", "inherit"] });
  const tarball = join(into, readdirSync(into).find((file) => file.endsWith(".tgz")));
  execFileSync("tar", ["-xzf", tarball, "-C", into, "--strip-components=1"]);
  rmSync(tarball);
}

/**
 * A new project that depends on the package, with `workers` also on railgate-workers; `examples` are copied into it.
 *
 * Delete the folder with `remove()`.
 */
export function project({ workers = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "railgate-project-"));
  const modules = join(folder, "node_modules");
  unpacked(root, folder, "railgate");
  if (workers) unpacked(join(root, "../npm-workers"), folder, "railgate-workers");
  // The dependencies of the package and of the examples.
  for (const name of ["eventsource-parser", "jsqr"]) symlinkSync(join(root, "node_modules", name), join(modules, name));
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, maxRetries: 20 }) };
}
