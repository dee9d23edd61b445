// Completes a package before it is packed: the licences, and into railgate-workers the modules as files. Runs in the package's folder.
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { modules, root } from "./modules.mjs";

const folder = process.cwd();
for (const name of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, "../..", name), join(folder, name));
const version = (of) => JSON.parse(readFileSync(join(of, "package.json"), "utf8")).version;
if (folder !== resolve(root)) {
  if (version(folder) !== version(root)) throw new Error(`${folder} must have the version of railgate, ${version(root)}`);
  mkdirSync(join(folder, "wasm"), { recursive: true });
  for (const name of modules) copyFileSync(join(root, "wasm", `${name}_bg.wasm`), join(folder, "wasm", `${name}.wasm`));
}
