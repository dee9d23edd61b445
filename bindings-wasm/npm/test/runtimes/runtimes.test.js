// The installed package in Deno and in workerd, the runtime of Cloudflare Workers.
import { execFile } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import { project } from "../installed.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const server = process.env.RAILGATE_TEST_SERVER;
if (server === undefined) throw new Error("RAILGATE_TEST_SERVER must be the address of a server, such as http://127.0.0.1:8080");
const run = promisify(execFile);

let installed;
before(() => {
  installed = project({ workers: true });
  copyFileSync(join(here, "everything.js"), join(installed.folder, "everything.js"));
});
after(() => installed?.remove());

/** Runs an installed runtime in the project. */
function runtime(name, ...args) {
  const env = { ...process.env, NO_PROXY: "127.0.0.1", DENO_NO_UPDATE_CHECK: "1" };
  return run(join(here, "node_modules/.bin", name), args, { cwd: installed.folder, env });
}

test("Deno runs all of it", async () => {
  writeFileSync(join(installed.folder, "deno.js"), `import { everything } from "./everything.js"; await everything("${server}");`);
  await runtime("deno", "run", "--no-prompt", "--node-modules-dir=manual", "--allow-net=127.0.0.1", "deno.js");
});

test("workerd runs all of it, from modules that are compiled ahead", async () => {
  const entry = join(installed.folder, "worker.js");
  writeFileSync(entry, `import { everything } from "./everything.js"; export default { test: () => everything("${server}") };`);
  const { metafile } = await esbuild.build({
    absWorkingDir: installed.folder,
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    conditions: ["workerd"],
    // As Cloudflare's bundler does: modules beside the script.
    loader: { ".wasm": "copy" },
    outdir: "worker",
    metafile: true,
    logLevel: "error",
  });
  const files = Object.keys(metafile.outputs).map((path) => basename(path));
  const modules = files.map((name) => `(name = "${name}", ${name.endsWith(".wasm") ? "wasm" : "esModule"} = embed "worker/${name}")`);
  // The first is the worker itself.
  modules.sort((a, b) => Number(b.includes("esModule")) - Number(a.includes("esModule")));
  const config = readFileSync(join(here, "workerd.capnp"), "utf8").replace("MODULES", modules.join(", "));
  writeFileSync(join(installed.folder, "workerd.capnp"), config);
  await runtime("workerd", "test", "workerd.capnp");
});
