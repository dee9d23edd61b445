// The modules below the package, in Chromium, with arguments that the types do not allow.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { Browser, freshProfile, serve } from "./chromium.js";
import { bundle, ended } from "./site.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

async function site() {
  const routes = {
    "/": {
      type: "text/html",
      body: '<!doctype html><html lang="en"><title>railgate</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
    },
    "/page.js": { type: "text/javascript", body: await bundle(here("boundary-page.js")) },
  };
  for (const name of ["client", "forms", "gateway", "log", "qr", "receipt", "sheet", "webhook"]) {
    routes[`/${name}_bg.wasm`] = { type: "application/wasm", body: await readFile(here(`../../wasm/${name}_bg.wasm`)) };
  }
  return serve(routes);
}

test("no argument breaks a module, and no journal that was changed is taken", async (t) => {
  const pages = await site();
  t.after(() => pages.close());
  const profile = await freshProfile();
  t.after(() => profile.remove());
  const browser = await Browser.start(profile.folder);
  t.after(() => browser.kill());
  const page = await browser.tab(pages.url);
  const { tried, wrong } = await page.evaluate(() => globalThis.tryModules());
  assert.deepEqual(wrong, []);
  assert.ok(tried.every((count) => count > 0));
  await ended(page);
});
