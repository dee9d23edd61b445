// Where the sites are built, uncompressed and as the server embeds them.
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export const build = here("../build");
export const dist = here("../dist");
