// The tests' site: an empty page with the bundled package.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

import { serve } from "./chromium.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Bundles a module for the browser as a user's bundler would. */
export async function bundle(entry, options = {}) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    logLevel: "error",
    ...options,
  });
  return outputFiles[0].text;
}

/** Serves the test page, and more routes if there are any. */
export async function testSite(routes = {}) {
  return serve({
    "/": {
      type: "text/html",
      body: '<!doctype html><html lang="en"><title>railgate</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
    },
    "/page.js": { type: "text/javascript", body: await bundle(here("page.js")) },
    "/worker.js": { type: "text/javascript", body: await bundle(here("worker.js")) },
    ...routes,
  });
}

/** Opens the sandbox of that name in a tab, as `sandbox`; throws an error with its code if that fails. */
export async function openSandbox(tab, name) {
  const page = await tab;
  const refused = await page.evaluate(async (name) => {
    try {
      globalThis.sandbox = await railgate.Sandbox.open({ name });
    } catch ({ code, message, retryable }) {
      return { code, message, retryable };
    }
    globalThis.pay = (reference, more) => sandbox.create({ amount: "10.50", currency: "EUR", to: "sim:ok", reference, ...more });
    // The result of a call: its value, or the members of its error.
    globalThis.outcome = (promise) =>
      promise.then(
        (value) => ({ value }),
        (error) => ({
          error: { name: error.name, code: error.code, retryable: error.retryable, ours: error instanceof railgate.RailgateError },
        }),
      );
  }, name);
  if (refused !== undefined) throw Object.assign(new Error(refused.message), refused);
  return page;
}

/** Closes tabs and asserts that they had no unexpected errors. */
export async function ended(...pages) {
  for (const page of pages) {
    assert.deepEqual(page.faults, []);
    await page.close();
  }
}
