// Prints the size of each module, raw and compressed: node sizes.mjs FOLDER
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = process.argv[2];
const sizes = (bytes) => [
  bytes.length,
  gzipSync(bytes, { level: 9 }).length,
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }).length,
];
const line = (name, numbers) => console.log(name.padEnd(20) + numbers.map((n) => (n / 1024).toFixed(1).padStart(9)).join(""));

console.log("KiB".padEnd(20) + ["raw", "gzip", "brotli"].map((name) => name.padStart(9)).join(""));
const total = [0, 0, 0];
for (const name of readdirSync(folder)
  .filter((name) => /\.(wasm|js)$/.test(name))
  .sort()) {
  const numbers = sizes(readFileSync(join(folder, name)));
  numbers.forEach((n, at) => (total[at] += n));
  line(name, numbers);
}
line("total", total);
