// Embeds each WebAssembly module in a JavaScript file beside it, so that bundlers, browsers and runtimes accept it without
// configuration. So are the core's catalogues of messages, each in a file of its own that a page loads when it needs it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { languages, modules, root } from "./modules.mjs";
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

function catalogue(language) {
  const texts = JSON.parse(readFileSync(join(root, "../../core/src/validate/messages", `${language}.json`), "utf8"));
  writeFileSync(join(root, "wasm", `messages_${language}.js`), `export const messages = ${JSON.stringify(texts)};\n`);
  const keys = Object.keys(texts).map((key) => `  readonly ${JSON.stringify(key)}: string;\n`);
  writeFileSync(join(root, "wasm", `messages_${language}.d.ts`), `export const messages: {\n${keys.join("")}};\n`);
}

modules.forEach(inline);
languages.forEach(catalogue);
