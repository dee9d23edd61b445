// Prints what a page loads for each entry: bundled, minified and split as by a bundler, compressed as by a server. Parts that are
// loaded on demand have separate lines. Fails if a budget is exceeded.
import { resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { root } from "./modules.mjs";

/** The budgets in kilobytes (1,000 bytes) of brotli: for the initial load, and for parts loaded on demand. */
const BUDGETS = [
  { entry: "railgate/receipt", most: 60 },
  { entry: "railgate/log", most: 71 },
  { entry: "railgate/webhook", most: 30 },
  { entry: "railgate/forms", most: 61, mostLater: 4 },
  { entry: "railgate/qr", most: 29 },
  { entry: "railgate/client", most: 100 },
  { entry: "railgate", most: 265, mostLater: 44 },
];

/** The files of the initial load, and those loaded on demand. */
async function sizes(entry) {
  const options = { bundle: true, minify: true, splitting: true, format: "esm", write: false, metafile: true, logLevel: "error", target: "es2022" };
  const stdin = { contents: `export * from "${entry}";`, resolveDir: root };
  const { outputFiles, metafile } = await build({ ...options, outdir: "out", stdin });
  const { outputs } = metafile;
  const [first] = Object.keys(outputs).filter((name) => outputs[name].entryPoint === "<stdin>");
  const atOnce = new Set();
  const take = (name) => {
    if (atOnce.has(name)) return;
    atOnce.add(name);
    outputs[name].imports.filter(({ kind }) => kind === "import-statement").forEach(({ path }) => take(path));
  };
  take(first);
  const contents = (wanted) => Object.keys(outputs).filter(wanted).map((name) => outputFiles.find(({ path }) => path === resolve(name)).contents);
  return { atOnce: size(contents((name) => atOnce.has(name))), later: size(contents((name) => !atOnce.has(name))) };
}

/** The total size of several files, each compressed separately. */
function size(files) {
  const sum = (bytes) => files.reduce((total, file) => total + bytes(file), 0);
  const brotli = (file) => brotliCompressSync(file, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } });
  return { raw: sum((file) => file.length), gzip: sum((file) => gzipSync(file, { level: 9 }).length), brotli: sum((file) => brotli(file).length) };
}

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`.padStart(9);
let over = 0;
console.log(`${"a page loads for".padEnd(18)}${["raw", "gzip", "brotli", "at most"].map((name) => name.padStart(9)).join(" ")}`);
function report(name, { raw, gzip, brotli }, most) {
  const fits = brotli <= most * 1000;
  over += fits ? 0 : 1;
  console.log(`${name.padEnd(18)}${[raw, gzip, brotli, most * 1000].map(kilobytes).join(" ")}${fits ? "" : "  OVER"}`);
}

for (const { entry, most, mostLater = 0 } of BUDGETS) {
  const { atOnce, later } = await sizes(entry);
  report(entry, atOnce, most);
  if (later.raw > 0) report("  and later", later, mostLater);
}
if (over > 0) throw new Error(`${over} over the budget`);
