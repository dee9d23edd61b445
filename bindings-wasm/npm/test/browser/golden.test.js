// What earlier versions stored in browsers is opened, and holds the same. With RAILGATE_BLESS=1, the present layout is written.

import assert from "node:assert/strict";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { Browser, freshProfile } from "./chromium.js";
import { ended, openSandbox, testSite } from "./site.js";

const GOLDEN = new URL("golden/", import.meta.url);
const DAY = 86_400_000;

let site, profile, browser;
before(async () => {
  site = await testSite();
  profile = await freshProfile();
  browser = await Browser.start(profile.folder);
});
after(async () => {
  await browser?.kill();
  await site?.close();
  await profile?.remove();
});

/** Everything in a database, as JSON: its stores with their indexes and entries, bytes as `{ base64 }`. */
const dump = (page, database) =>
  page.evaluate(async (database) => {
    const result = (asked) => new Promise((resolve, reject) => ((asked.onsuccess = () => resolve(asked.result)), (asked.onerror = reject)));
    const db = await result(indexedDB.open(database));
    const stores = {};
    for (const name of db.objectStoreNames) {
      const store = db.transaction(name).objectStore(name);
      const [keys, values] = await Promise.all([result(store.getAllKeys()), result(store.getAll())]);
      const indexes = Array.from(store.indexNames, (index) => [index, store.index(index).keyPath]);
      const packed = (value) => (value instanceof Uint8Array ? { base64: value.toBase64() } : value);
      stores[name] = { keyPath: store.keyPath, indexes, entries: keys.map((key, i) => [key, packed(values[i])]) };
    }
    db.close();
    return { version: db.version, stores };
  }, database);

/** Makes a database of a dump. */
const restore = (page, database, dumped) =>
  page.evaluate(
    ([database, { version, stores }]) =>
      new Promise((resolve, reject) => {
        const asked = indexedDB.open(database, version);
        asked.onerror = reject;
        asked.onupgradeneeded = () => {
          for (const [name, { keyPath, indexes, entries }] of Object.entries(stores)) {
            const store = asked.result.createObjectStore(name, { keyPath });
            for (const [index, path] of indexes) store.createIndex(index, path);
            const unpacked = (value) => (value.base64 === undefined ? value : Uint8Array.fromBase64(value.base64));
            for (const [key, value] of entries) store.put(unpacked(value), key);
          }
        };
        asked.onsuccess = () => resolve(asked.result.close());
      }),
    [database, dumped],
  );

/** What a sandbox shows of itself: what has ended, what has not and may go on meanwhile, its first events, and its money. */
const look = (page) =>
  page.evaluate(async () => {
    const { data } = await sandbox.list();
    const of = async (settlement) => ({
      settlement,
      events: await sandbox.events(settlement.reference),
      reversals: await sandbox.reversals(settlement.reference),
      consistent: (await sandbox.reconcile(settlement.reference)).consistent,
    });
    const { available, reserved } = await sandbox.balance("EUR");
    return {
      ended: await Promise.all(data.filter(({ completed_at }) => completed_at !== null).map(of)),
      open: data.filter(({ completed_at }) => completed_at === null).map(({ id, status, amount }) => ({ id, status, amount })),
      feed: (await sandbox.feed()).data.slice(0, 19),
      money: { available, reserved },
    };
  });

/** A layout without what differs from one sandbox to the next. */
const layout = ({ version, stores }) => ({
  version,
  stores: Object.entries(stores).map(([name, { keyPath, indexes, entries }]) => {
    const members = (value) => (value.base64 === undefined ? Object.keys(value).sort() : "bytes");
    return { name, keyPath, indexes, entries: [...new Set(entries.map(([key, value]) => JSON.stringify([typeof key, members(value)])))] };
  }),
});

const golden = async (version) => JSON.parse(await readFile(new URL(`sandbox-${version}.json`, GOLDEN), "utf8"));

test("a sandbox is stored as the golden one of its version", async () => {
  const page = await openSandbox(browser.tab(site.url), "golden-now");
  await page.evaluate(async () => {
    await pay("paid", { description: "Käse 🧀", metadata: { order: "1" } });
    await pay("unclear", { to: "sim:timeout-never" });
    await sandbox.settled("paid");
    await sandbox.reverse("paid", { amount: "0.50", reason: "customer_request" });
  });
  // The answers to another tab are kept: it may ask again.
  const other = await openSandbox(browser.tab(site.url), "golden-now");
  await other.evaluate(async () => {
    await pay("refused", { to: "sim:decline-account_closed" });
    await sandbox.settled("refused");
  });
  const seen = await look(page);
  for (const tab of [other, page]) await tab.evaluate(() => sandbox.close());
  const dumped = await dump(page, "railgate:golden-now");
  if (process.env.RAILGATE_BLESS === "1") {
    await writeFile(new URL(`sandbox-${dumped.version}.json`, GOLDEN), `${JSON.stringify({ ...dumped, seen }, null, 1)}\n`);
  }
  assert.deepEqual(layout(dumped), layout(await golden(dumped.version)), "a new layout needs a migration and a golden file of its own");
  await ended(page, other);
});

test("there is a golden sandbox of every version", async () => {
  const page = await browser.tab(site.url);
  const versions = await page.evaluate(() => parts.UPGRADES.length);
  const files = (await readdir(GOLDEN)).filter((name) => name.startsWith("sandbox-")).sort();
  assert.deepEqual(
    files,
    Array.from({ length: versions }, (_, i) => `sandbox-${i + 1}.json`),
  );
  for (const version of files.keys()) {
    for (const later of [0, 400 * DAY]) {
      const tab = await browser.tab(site.url);
      await tab.evaluate((later) => {
        const now = Date.now;
        Date.now = () => now() + later;
      }, later);
      const { seen, ...dumped } = await golden(version + 1);
      const name = `golden-${version + 1}-${later}`;
      await restore(tab, `railgate:${name}`, dumped);
      await openSandbox(tab, name);
      assert.deepEqual(await look(tab), seen);
      const next = await tab.evaluate(async () => {
        const again = await pay("refused", { to: "sim:decline-account_closed" });
        await pay("next");
        return [again.replayed, (await sandbox.settled("next")).status];
      });
      assert.deepEqual(next, [true, "completed"], "what was asked for is known, and more can be");
      await ended(tab);
    }
  }
  await ended(page);
});

test("a key and a session that a page of before kept are used", async () => {
  const page = await browser.tab(site.url);
  const seen = await page.evaluate(async () => {
    const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
    const kept = { session: "{}", clientId: "cli_01", keyId: "k" };
    await new Promise((resolve, reject) => {
      const asked = indexedDB.open("railgate-client", 1);
      asked.onerror = reject;
      asked.onupgradeneeded = () => {
        const store = asked.result.createObjectStore("vault");
        store.put(pair, "key/default");
        store.put(kept, "session/default");
      };
      asked.onsuccess = () => resolve(asked.result.close());
    });
    const vault = parts.indexedDbVault();
    const message = new TextEncoder().encode("signed");
    const signature = await (await vault.signer()).sign(message);
    const same = await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, pair.publicKey, signature, message);
    return { same, kept: await vault.read() };
  });
  assert.deepEqual(seen, { same: true, kept: { session: "{}", clientId: "cli_01", keyId: "k" } });
  await ended(page);
});
