// Pages with a Content-Security-Policy, in Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, freshProfile } from "./chromium.js";
import { testSite } from "./site.js";

const page = (sources) => ({
  type: "text/html",
  body: `<!doctype html><html lang="en"><title>railgate</title><meta http-equiv="Content-Security-Policy" content="script-src ${sources}"><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>`,
});

let site, profile, browser;
before(async () => {
  site = await testSite({ "/strict": page("'self'"), "/allowed": page("'self' 'wasm-unsafe-eval'") });
  profile = await freshProfile();
  browser = await Browser.start(profile.folder);
});
after(async () => {
  await browser?.kill();
  await site?.close();
  await profile?.remove();
});

/** Opens a sandbox there; returns the error, if there is one. */
async function opened(path) {
  const tab = await browser.tab(site.url + path);
  const result = await tab.evaluate(async () => {
    try {
      await (await railgate.Sandbox.open({ name: "policy" })).close();
      return {};
    } catch (error) {
      return { name: error.name, code: error.code, message: error.message, ours: error instanceof railgate.RailgateError };
    }
  });
  await tab.close();
  return result;
}

test("a policy that forbids WebAssembly is named, with the directive to change", async () => {
  const { ours, code, message } = await opened("/strict");
  assert.deepEqual([ours, code], [true, "webassembly_forbidden"], message);
  assert.ok(message.includes("Content-Security-Policy") && message.includes("'wasm-unsafe-eval'") && message.includes("script-src"), message);
});

test("with that directive it runs", async () => {
  assert.deepEqual(await opened("/allowed"), {});
});
