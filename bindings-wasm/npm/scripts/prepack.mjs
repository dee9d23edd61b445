// Completes a package before it is packed: the licences, and into railgate-workers the modules as files. Runs in the package's folder.
import { randomUUID } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join, resolve } from "node:path";
import { modules, root } from "./modules.mjs";

/** Copies a file at once: somebody else may be packing the same folder. */
function put(from, to) {
  const made = join(tmp, randomUUID());
  copyFileSync(from, made);
  renameSync(made, to);
}

const folder = process.cwd();
const tmp = join(folder, "build");
mkdirSync(tmp, { recursive: true });
for (const name of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]) put(join(root, "../..", name), join(folder, name));
const version = (of) => JSON.parse(readFileSync(join(of, "package.json"), "utf8")).version;
if (folder !== resolve(root)) {
  if (version(folder) !== version(root)) throw new Error(`${folder} must have the version of railgate, ${version(root)}`);
  mkdirSync(join(folder, "wasm"), { recursive: true });
  for (const name of modules) put(join(root, "wasm", `${name}_bg.wasm`), join(folder, "wasm", `${name}.wasm`));
}
