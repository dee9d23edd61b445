// A push in Chromium: what the gateway sends, after the browser has decrypted it, reaches the service worker that docs/notifications.md
// gives, which shows it once. Only the push service between the two is left out: DevTools deliver the text in its place.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { Browser, freshProfile, serve } from "./chromium.js";
import { watchIn, watched } from "./shown.js";

const docs = await readFile(new URL("../../../../docs/notifications.md", import.meta.url), "utf8");
/** The code blocks of the page for app developers. */
const [worker] = [...docs.matchAll(/^ *```js\n([^]*?)^ *```$/gm)].map(([, code]) => code);

let site, profile, browser;
before(async () => {
  site = await serve({
    "/": { type: "text/html", body: '<!doctype html><html lang="en"><title>app</title><link rel="icon" href="data:,">' },
    "/push-worker.js": { type: "text/javascript", body: watched(worker) },
  });
  profile = await freshProfile();
  browser = await Browser.start(profile.folder);
});
after(async () => {
  await browser?.kill();
  await site?.close();
  await profile?.remove();
});

/** As server/src/push.rs writes it. */
const payload = (more) => ({
  title: "وصلت دفعتك",
  body: "تم دفع \u2068١٬٢٣٤٫٥٠\u00a0KES\u2069.",
  lang: "ar",
  dir: "rtl",
  tag: "oVqZ0iJb0vQw5m7l1m0bq7f3Yc2n8t6R",
  silent: false,
  data: { id: "ntf_01KAJX3M7Q5W8ZP9D2R4T6V8YD", kind: "payment.completed", at: "2026-11-21T10:38:17.042Z", amount: "1234.50", currency: "KES" },
  ...more,
});

test("the service worker of the documentation shows a push once, and the next one about the same payment in its place", async () => {
  assert.ok(worker?.includes("showNotification"), "the first block of the page is the service worker");
  await browser.context.grantPermissions(["notifications"], { origin: site.url });
  const page = await browser.tab(site.url);
  const devtools = await browser.context.newCDPSession(page);
  const registered = new Promise((resolve) => {
    devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const ours = registrations.find(({ scopeURL, isDeleted }) => scopeURL === `${site.url}/` && !isDeleted);
      if (ours !== undefined) resolve(ours.registrationId);
    });
  });
  await devtools.send("ServiceWorker.enable");
  await page.evaluate(async () => {
    await navigator.serviceWorker.register("/push-worker.js");
    await navigator.serviceWorker.ready;
  });
  const registrationId = await registered;
  await watchIn(page);
  const push = (message) => devtools.send("ServiceWorker.deliverPushMessage", { origin: site.url, registrationId, data: JSON.stringify(message) });
  /** What is shown, once it has this kind. */
  const shown = (kind) =>
    page.evaluate(async (kind) => {
      const all = await shown((data) => data.kind === kind);
      return all.map(({ title, body, lang, dir, data }) => ({ title, body, lang, dir, data }));
    }, kind);
  await push(payload());
  const { title, body, lang, dir, data } = payload();
  assert.deepEqual(await shown("payment.completed"), [{ title, body, lang, dir, data }]);
  await push(payload({ data: { ...data, kind: "payment.returned" } }));
  assert.equal((await shown("payment.returned")).length, 1);
  assert.deepEqual(page.faults, []);
  await page.close();
});
