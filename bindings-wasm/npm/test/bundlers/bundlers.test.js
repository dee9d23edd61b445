// The installed package with bundlers without configuration.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as esbuild from "esbuild";
import * as vite from "vite";
import { issuer } from "../node/receipts.js";
import { project } from "../installed.js";

let installed;
before(() => (installed = project()));
after(() => installed?.remove());

const ENTRIES = ["railgate", "railgate/client", "railgate/forms", "railgate/log", "railgate/qr", "railgate/receipt", "railgate/webhook"];

/** Bundles a module with these imports by esbuild; returns the included parts of the package. */
async function bundled(name, code) {
  const entry = join(installed.folder, `${name}.js`);
  const outfile = join(installed.folder, `${name}.bundle.mjs`);
  writeFileSync(entry, code);
  const { metafile, warnings } = await esbuild.build({ entryPoints: [entry], bundle: true, format: "esm", metafile: true, outfile, logLevel: "silent" });
  assert.deepEqual(warnings, []);
  const inside = Object.keys(metafile.inputs).map((path) => /node_modules\/railgate\/(.*)/.exec(path)?.[1]);
  return { outfile: pathToFileURL(outfile), inside: inside.filter((path) => path !== undefined) };
}

test("esbuild takes every entry, and each brings the modules that it needs and no others", async () => {
  const needs = { railgate: ["gateway", "sheet"], client: ["client"], forms: ["forms"], log: ["log"], qr: ["qr"], receipt: ["receipt"], webhook: ["webhook"] };
  for (const entry of ENTRIES) {
    const name = entry.split("/").at(-1);
    const { inside } = await bundled(name, `export * from "${entry}";`);
    const packed = inside.filter((path) => path.endsWith("_packed.js")).map((path) => path.replace(/wasm\/(.*)_packed\.js/, "$1"));
    assert.deepEqual(packed, needs[name], entry);
  }
});

test("what esbuild made runs by itself", async () => {
  const code = 'export { verifyReceipt } from "railgate/receipt"; export { qrSvg } from "railgate/qr"; export { loadForms } from "railgate/forms";';
  const { outfile } = await bundled("runs", code);
  const { verifyReceipt, qrSvg, loadForms } = await import(outfile);
  const { sign, jwks, claims } = await issuer();
  assert.deepEqual(await verifyReceipt(await sign(), jwks), claims);
  assert.match(await qrSvg("x"), /^<svg /);
  assert.equal((await loadForms()).check({}).ok, false);
});

test("Vite builds the examples, every asset of theirs among them", async () => {
  const examples = await readdir(join(installed.folder, "examples"));
  const pages = examples.filter((name) => name !== "webhook-receiver");
  assert.ok(pages.length >= 2);
  for (const page of pages) {
    const built = await vite.build({ root: join(installed.folder, "examples", page), configFile: false, logLevel: "silent" });
    const files = built.output.map(({ fileName }) => fileName);
    assert.ok(files.includes("index.html") && files.some((name) => name.endsWith(".js")), files.join());
    // Modules are embedded in the scripts: nothing else must be fetched from a server.
    assert.ok(!files.some((name) => name.endsWith(".wasm")), files.join());
  }
});
