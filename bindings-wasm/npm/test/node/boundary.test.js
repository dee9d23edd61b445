// The modules below the package, with arguments that the types do not allow.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { tryAll } from "../boundary.js";

const FOLDER = new URL("../../wasm/", import.meta.url);

async function load(name) {
  const module = await import(new URL(`${name}.js`, FOLDER));
  module.initSync({ module: readFileSync(new URL(`${name}_bg.wasm`, FOLDER)) });
  return [name, module];
}

test("no argument breaks a module, and no journal that was changed is taken", async () => {
  const modules = await Promise.all(["receipt", "log", "webhook", "forms", "qr", "client", "gateway", "sheet"].map(load));
  const { tried, wrong } = tryAll(Object.fromEntries(modules));
  assert.deepEqual(wrong, []);
  assert.ok(tried.every((count) => count > 0));
});
