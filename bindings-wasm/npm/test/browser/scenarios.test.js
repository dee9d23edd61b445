// The same seed produces the same bytes as the native engine, in Chromium over IndexedDB.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { scenarios } from "../node/scenarios.js";
import { Browser, freshProfile } from "./chromium.js";
import { ended, testSite } from "./site.js";

let site, profile, browser, page;
before(async () => {
  site = await testSite();
  profile = await freshProfile();
  browser = await Browser.start(profile.folder);
  page = await browser.tab(site.url);
});
after(async () => {
  await browser?.kill();
  await site?.close();
  await profile?.remove();
});

for (const scenario of scenarios) {
  test(`${scenario.name} answers to the byte as the native engine does`, async () => {
    const { answers, different } = await page.evaluate(
      (scenario) => parts.play(scenario, () => parts.openIndexedDb(scenario.name)),
      scenario,
    );
    assert.deepEqual(different, []);
    assert.ok(answers > 0);
  });
}

test("nothing went wrong unseen", () => ended(page));
