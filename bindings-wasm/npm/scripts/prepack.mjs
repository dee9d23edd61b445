// Brings the licences into the package, which npm packs alone.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./modules.mjs";

for (const name of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, "../..", name), join(root, name));
