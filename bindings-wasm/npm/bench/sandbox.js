// Benchmarks of the sandbox in Chromium on this machine, all with `durability: "strict"`.

import { Browser, freshProfile } from "../test/browser/chromium.js";
import { openSandbox, testSite } from "../test/browser/site.js";

const show = (what, figure) => console.log(`${what.padEnd(62)} ${figure}`);
const ms = (value) => `${value.toFixed(1).padStart(9)} ms`;
const each = (count, took) =>
  `${Math.round((count / took) * 1000)
    .toLocaleString("en")
    .padStart(9)} /s  (${(took / count).toFixed(2)} ms each)`;

/** The reference: bare IndexedDB, one record per transaction, durable before the next begins. */
async function bareWrites(count) {
  const db = await new Promise((resolve, reject) => {
    const asked = indexedDB.open("bare");
    asked.onupgradeneeded = () => asked.result.createObjectStore("records");
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
  const begun = performance.now();
  for (let n = 0; n < count; n += 1) {
    await new Promise((resolve, reject) => {
      const transaction = db.transaction("records", "readwrite", { durability: "strict" });
      Object.assign(transaction, { oncomplete: resolve, onabort: reject });
      transaction.objectStore("records").add(new Uint8Array(1200), n);
      transaction.commit();
    });
  }
  return performance.now() - begun;
}

const site = await testSite();
const profile = await freshProfile();
const browser = await Browser.start(profile.folder);
try {
  const page = await browser.tab(site.url);
  const open = (name) =>
    page.evaluate(async (name) => {
      const begun = performance.now();
      globalThis.sandbox = await railgate.Sandbox.open({ name });
      return performance.now() - begun;
    }, name);
  show("open a new sandbox, module compiled for the first time", ms(await open("bench")));
  show("open another new one in the same page", ms(await open("bench-2")));
  await page.evaluate(() => sandbox.close());

  const run = (tab, count, atOnce, prefix) =>
    tab.evaluate(
      async ([count, atOnce, prefix]) => {
        const begun = performance.now();
        for (let n = 0; n < count; n += atOnce) await Promise.all(Array.from({ length: atOnce }, (_, i) => pay(`${prefix}-${n + i}`)));
        return performance.now() - begun;
      },
      [count, atOnce, prefix],
    );
  await page.reload();
  await openSandbox(page, "bench");
  show("the reference: one durable write of 1.2 KB, nothing else", each(200, await page.evaluate(bareWrites, 200)));
  await run(page, 20, 1, "warm");
  show("create, one by one", each(200, await run(page, 200, 1, "single")));
  show("create, 100 at once", each(1000, await run(page, 1000, 100, "hundred")));
  show("create, 1000 at once", each(2000, await run(page, 2000, 1000, "thousand")));
  const follower = await openSandbox(browser.tab(site.url), "bench");
  show("create from a second tab, one by one", each(100, await run(follower, 100, 1, "follow")));
  show("create from a second tab, 100 at once", each(500, await run(follower, 500, 100, "follow-100")));
  await follower.close();

  const reads = await page.evaluate(async () => {
    const begun = performance.now();
    for (let n = 0; n < 2000; n += 1) await sandbox.status(`thousand-${n % 2000}`);
    return performance.now() - begun;
  });
  show("status, one by one", each(2000, reads));
  await page.reload();
  show("open again, with 3,820 settlements", ms(await open("bench")));
} finally {
  await browser.kill();
  await site.close();
  await profile.remove();
}
