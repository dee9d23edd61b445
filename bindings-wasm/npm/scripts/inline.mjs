// Embeds each WebAssembly module in a JavaScript file beside it, so that bundlers, browsers and runtimes accept it without
// configuration.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modules, root } from "./modules.mjs";
import { pack } from "./pack.mjs";

function inline(name) {
  const file = join(root, "wasm", `${name}_bg.wasm`);
  let bytes;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new Error(`${file} is not there; bindings-wasm/build.sh makes it`, { cause: error });
  }
  const types = "export const packed: { alphabet: string; escapes: string; order: string; text: string; size: number };\n";
  writeFileSync(join(root, "wasm", `${name}_packed.d.ts`), types);
  writeFileSync(join(root, "wasm", `${name}_packed.js`), `export const packed = ${JSON.stringify(pack(bytes))};\n`);
}

modules.forEach(inline);
