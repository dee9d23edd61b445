// The story of a payment in Chromium: a backend in Node, five devices in a page, and the stage that tests/src/stage.rs has set: a partner's
// bundle that two operators published, and a push service. What a browser would do with a message of its push service, decrypting it,
// that service does here; DevTools then deliver it to the service worker that docs/notifications.md gives.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { RailgateClient, generateSigner } from "railgate/client";
import { Browser, freshProfile, serve } from "./chromium.js";
import { watchIn, watched } from "./shown.js";
import { bundle } from "./site.js";

const { RAILGATE_STORY_URL: baseUrl, RAILGATE_STORY_PUSH: pushes, RAILGATE_STORY_PROVIDER: provider } = process.env;
const PHONES = 5;
const docs = await readFile(new URL("../../../../docs/notifications.md", import.meta.url), "utf8");
const [, worker] = /^ *```js\n([^]*?)^ *```$/m.exec(docs);

let site, profile, browser, page, devtools, registrationId;
before(async () => {
  const script = await bundle(fileURLToPath(new URL("story-page.js", import.meta.url)));
  const routes = {
    "/": { type: "text/html", body: '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>' },
    "/page.js": { type: "text/javascript", body: script },
    "/push-worker.js": { type: "text/javascript", body: watched(worker) },
  };
  site = await serve(routes, Number(process.env.RAILGATE_TEST_PAGES));
  profile = await freshProfile();
  browser = await Browser.start(profile.folder);
  await browser.context.grantPermissions(["notifications"], { origin: site.url });
  page = await browser.tab(site.url);
  devtools = await browser.context.newCDPSession(page);
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
  registrationId = await registered;
  await watchIn(page);
});
after(async () => {
  await browser?.kill();
  await site?.close();
  await profile?.remove();
});

/** Hands the pushes for a subscription to the service worker, until one of this kind. */
async function deliver(name, kind) {
  for (;;) {
    const data = await (await fetch(`${pushes}/browsers/${name}`)).text();
    await devtools.send("ServiceWorker.deliverPushMessage", { origin: site.url, registrationId, data });
    if (JSON.parse(data).data.kind === kind) return;
  }
}

/** A payment that a user approves in the page. */
async function approved(backend, n) {
  const limits = [{ currency: "EUR", max: "5000.00", approval_over: "100.00" }];
  const user = `user-${n}`;
  const { code } = await backend.call("POST", "/mobile/enrollment-codes", { body: { user, limits } });
  const subscription = await (await fetch(`${pushes}/browsers`, { method: "POST" })).json();
  const name = subscription.endpoint.split("/").at(-1);
  await page.evaluate(([baseUrl, user, code, subscription]) => story.enrolled(baseUrl, user, code, subscription), [baseUrl, user, code, subscription]);

  const reference = `rent-${n}`;
  const payment = { amount: "250.00", currency: "EUR", to: "msisdn:+254700000001", reference, provider, user };
  const { settlement: waiting } = await backend.create(payment);
  assert.deepEqual([waiting.status, waiting.approval.status], ["accepted", "pending"]);
  await deliver(name, "approval.requested");
  const done = await page.evaluate(([user, id]) => story.approved(user, id), [user, waiting.id]);
  assert.deepEqual([done.status, done.provider, done.amount], ["completed", provider, "250.00"]);
  await deliver(name, "payment.completed");
  const { told, unread, taken } = await page.evaluate(([user, id]) => story.told(user, id), [user, waiting.id]);
  assert.deepEqual(told, ["approval.requested", "payment.completed"]);
  assert.deepEqual([unread, taken.refused, taken.accepted > 5], [0, [], true]);
}

test("devices approve payments that go through a partner's bundle", async () => {
  const backend = await RailgateClient.open({ baseUrl, signer: await generateSigner() });
  await backend.enroll("Shop");
  for (let n = 0; n < PHONES; n += 1) await approved(backend, n);
  const query = { metric: "approval.answer", by: ["provider"] };
  const { groups } = await backend.call("GET", "/mobile/quality/summary", { query });
  assert.deepEqual(groups.map(({ provider, unit, count, failure_rate }) => [provider, unit, count, failure_rate]), [[provider, "ms", PHONES, 0]]);
  assert.deepEqual(page.faults, []);
  await backend.close();
});
