// The sandbox in Chromium: stored data persists, tabs share it, and storage errors are reported without data loss.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Browser, freshProfile } from "./chromium.js";
import { bundle, ended, openSandbox, testSite } from "./site.js";

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

const open = (name, { tab } = {}) => openSandbox(tab ?? browser.tab(site.url), name);

test("a payment, its trace, its receipt and its reversal outlive a reload", async () => {
  const page = await open("reload");
  const made = await page.evaluate(async () => {
    const { settlement } = await pay("inv-1");
    await sandbox.settled("inv-1");
    await sandbox.reverse("inv-1", { amount: "0.50", reason: "customer_request" });
    return settlement;
  });
  assert.equal(made.amount, "10.50");
  const look = () =>
    page.evaluate(async () => ({
      settlement: await sandbox.get("inv-1"),
      events: await sandbox.events("inv-1"),
      receipt: await sandbox.receipt("inv-1"),
      keys: await sandbox.jwks(),
      reversals: await sandbox.reversals("inv-1"),
      feed: await sandbox.feed(),
      reconciled: (await sandbox.reconcile("inv-1")).consistent,
    }));
  const before = await look();
  assert.equal(before.settlement.status, "partially_reversed");
  assert.equal(before.settlement.reversed_amount, "0.50");
  assert.equal(before.reconciled, true);
  await page.reload();
  await open("reload", { tab: page });
  assert.deepEqual(await look(), before);
  await ended(page);
});

test("an answer is only given when its effect is durable, and nobody sees the effect before", async () => {
  const page = await open("durable");
  const seen = await page.evaluate(async () => {
    const db = await new Promise((resolve, reject) => {
      const asked = indexedDB.open(parts.databaseName("durable"));
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = () => reject(asked.error);
    });
    // A transaction that is kept open makes the sandbox's write wait.
    let hold = true;
    const rounds = [];
    const held = new Promise((resolve) => {
      const blocker = db.transaction("journal", "readwrite");
      const again = () => {
        rounds.push(order.length);
        if (hold) blocker.objectStore("journal").count().onsuccess = again;
      };
      blocker.oncomplete = resolve;
      blocker.objectStore("journal").count().onsuccess = again;
    });
    const order = [];
    const created = pay("inv-1").then(() => order.push("created"));
    const read = sandbox.get("inv-1").then(() => order.push("read"));
    const later = Promise.resolve()
      .then(() => sandbox.list())
      .then((page) => order.push(`listed ${page.data.length}`));
    while (rounds.length < 200) await new Promise((resolve) => setTimeout(resolve));
    hold = false;
    await held;
    order.push("let go");
    await Promise.all([created, read, later]);
    db.close();
    return { early: rounds.some((answers) => answers > 0), order };
  });
  assert.equal(seen.early, false);
  assert.deepEqual(seen.order, ["let go", "created", "read", "listed 1"]);
  await ended(page);
});

test("a write that fails changes nothing: its callers hear so, and the next call works", async () => {
  const page = await open("failing");
  const seen = await page.evaluate(async () => {
    // A page's turn ends by the clock; if the clock is stopped, concurrent calls stay in one group.
    performance.now = () => 0;
    await pay("before");
    const balance = (await sandbox.balance("EUR")).available;
    const { commit, abort } = IDBTransaction.prototype;
    IDBTransaction.prototype.commit = abort;
    const failed = await Promise.all([outcome(pay("lost-1")), outcome(pay("lost-2")), outcome(sandbox.get("lost-1"))]);
    IDBTransaction.prototype.commit = commit;
    const left = await Promise.all([outcome(sandbox.get("lost-1")), outcome(sandbox.balance("EUR"))]);
    const again = await pay("lost-1");
    return { balance, failed, left, again: again.replayed, both: (await sandbox.list()).data.map((s) => s.reference) };
  });
  for (const { error } of seen.failed)
    assert.deepEqual(error, { name: "StorageError", code: "storage_failed", retryable: true, ours: true });
  assert.equal(seen.left[0].error.code, "settlement_not_found");
  assert.equal(seen.left[1].value.available, seen.balance);
  assert.equal(seen.again, false);
  assert.deepEqual(seen.both, ["lost-1", "before"]);
  await ended(page);
});

test("a full disk is told by its name, and room helps", async () => {
  // A separate origin: Chromium caches the available space for some time.
  const origin = site.url.replace("localhost", "127.0.0.1");
  const tab = await browser.tab(origin);
  const session = await browser.context.newCDPSession(tab);
  await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 3_000_000 });
  const page = await open("quota", { tab });
  const filled = await page.evaluate(async () => {
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`note-${i}`, "x".repeat(500)]));
    for (let n = 0; n < 1000; n += 1) {
      const { error } = await outcome(pay(`inv-${n}`, { metadata }));
      if (error !== undefined) return { error, n };
    }
  });
  assert.deepEqual(filled?.error, { name: "StorageError", code: "storage_quota", retryable: true, ours: true });
  const left = () => page.evaluate(async () => (await sandbox.list({ limit: 1 })).data[0].reference);
  assert.equal(await left(), `inv-${filled.n - 1}`);
  await session.send("Storage.overrideQuotaForOrigin", { origin });
  assert.equal(await page.evaluate(async (n) => (await pay(`inv-${n}`)).replayed, filled.n), false);
  assert.equal(await left(), `inv-${filled.n}`);
  await ended(page);
});

test("the journal is folded into a snapshot before it grows large, and all is there after a reload", async () => {
  const page = await open("compaction");
  const sizes = () =>
    page.evaluate(async () => {
      const db = await new Promise((resolve) => {
        const asked = indexedDB.open(parts.databaseName("compaction"));
        asked.onsuccess = () => resolve(asked.result);
      });
      const transaction = db.transaction(["journal", "state"]);
      const head = transaction.objectStore("state").get("head");
      const groups = transaction.objectStore("journal").getAll();
      const snapshot = transaction.objectStore("state").get("snapshot");
      await new Promise((resolve) => (transaction.oncomplete = resolve));
      db.close();
      return {
        head: head.result,
        journal: groups.result.reduce((sum, group) => sum + group.length, 0),
        snapshot: snapshot.result?.length ?? 0,
      };
    });
  let snapshots = 0;
  let paid = 0;
  let { since } = (await sizes()).head;
  while (snapshots < 3) {
    await page.evaluate(
      ([from, to]) =>
        Promise.all(Array.from({ length: to - from }, (_, i) => pay(`inv-${from + i}`, { metadata: { note: "x".repeat(400) } }))),
      [paid, paid + 60],
    );
    paid += 60;
    const now = await sizes();
    assert.ok(now.journal <= Math.max(512 * 1024, now.snapshot), `a journal of ${now.journal} bytes beside a snapshot of ${now.snapshot}`);
    if (now.head.since !== since) snapshots += 1;
    since = now.head.since;
    assert.ok(paid < 6000, "no snapshot was made");
  }
  const everything = () =>
    page.evaluate(async () => {
      const references = [];
      for (let cursor; ;) {
        const { data, next_cursor } = await sandbox.list({ limit: 200, ...(cursor && { cursor }) });
        references.push(...data.map((s) => `${s.id} ${s.reference} ${s.status}`));
        if (next_cursor === null) return { references, balance: (await sandbox.balance("EUR")).available };
        cursor = next_cursor;
      }
    });
  await page.evaluate((n) => sandbox.settled(`inv-${n}`), paid - 1);
  const before = await everything();
  assert.equal(before.references.length, paid);
  await page.reload();
  await open("compaction", { tab: page });
  assert.deepEqual(await everything(), before);
  await ended(page);
});

test("with a snapshot, answers that nobody asks for any more are forgotten", async () => {
  const page = await browser.tab(site.url);
  const left = await page.evaluate(async () => {
    const storage = await parts.openIndexedDb("answers");
    await storage.load();
    const group = { by: "a", entries: new Uint8Array(8), answers: [], snapshot: undefined, forgetBefore: 3000 };
    const answers = [1000, 2999, 3000, 5000].map((at) => ({ call: `at-${at}`, at, answer: "{}" }));
    await storage.append({ ...group, number: 1, answers });
    const before = (await storage.load()).answers.length;
    const again = { call: "at-1000", at: 6000, answer: "{}" };
    await storage.append({ ...group, number: 2, answers: [again], snapshot: new Uint8Array(8) });
    const after = (await storage.load()).answers.map(({ call }) => call);
    storage.close();
    return [before, after];
  });
  assert.deepEqual(left, [4, ["at-1000", "at-3000", "at-5000"]]);
  await ended(page);
});

/** Runs `change` on the stores of a closed sandbox's database. */
function tamper(page, name, change) {
  return page.evaluate(
    async ([name, change]) => {
      const db = await new Promise((resolve) => {
        const asked = indexedDB.open(parts.databaseName(name));
        asked.onsuccess = () => resolve(asked.result);
      });
      const transaction = db.transaction(["journal", "state"], "readwrite");
      const stores = { journal: transaction.objectStore("journal"), state: transaction.objectStore("state") };
      await new Function(
        "stores",
        `return (async () => { const done = (r) => new Promise((resolve) => (r.onsuccess = () => resolve(r.result))); ${change} })()`,
      )(stores);
      await new Promise((resolve) => (transaction.oncomplete = resolve));
      db.close();
    },
    [name, change],
  );
}

const DAMAGE = {
  "a flipped bit":
    "const [key] = (await done(stores.journal.getAllKeys())).slice(-1); const group = await done(stores.journal.get(key)); group[group.length >> 1] ^= 1; stores.journal.put(group, key);",
  "a missing group in the middle": "stores.journal.delete(2);",
  "a missing last group": "const [key] = (await done(stores.journal.getAllKeys())).slice(-1); stores.journal.delete(key);",
  "a shortened group":
    "const [key] = (await done(stores.journal.getAllKeys())).slice(-1); const group = await done(stores.journal.get(key)); stores.journal.put(group.slice(0, -1), key);",
  "groups that changed places":
    "const [a, b] = [await done(stores.journal.get(2)), await done(stores.journal.get(3))]; stores.journal.put(a, 3); stores.journal.put(b, 2);",
  "a missing head": 'stores.state.delete("head");',
  "a group that is no bytes": 'stores.journal.put("text", 2);',
};
for (const [what, change] of Object.entries(DAMAGE)) {
  test(`${what} is found when the sandbox is opened, and nothing is changed or lost`, async () => {
    const name = `damage-${what}`;
    const page = await open(name);
    await page.evaluate(async () => {
      for (const reference of ["a", "b", "c"]) {
        await pay(reference);
        await sandbox.settled(reference);
      }
      await sandbox.close();
    });
    await tamper(page, name, change);
    const dump = () =>
      page.evaluate(async (name) => {
        const storage = await new Promise((resolve) => {
          const asked = indexedDB.open(parts.databaseName(name));
          asked.onsuccess = () => resolve(asked.result);
        });
        const transaction = storage.transaction(["journal", "state", "answers"]);
        const all = ["journal", "state", "answers"].map((store) => transaction.objectStore(store).getAll());
        await new Promise((resolve) => (transaction.oncomplete = resolve));
        storage.close();
        return JSON.stringify(
          all.map(({ result }) => result),
          (_, value) => (value instanceof Uint8Array ? [...value].join() : value),
        );
      }, name);
    const damaged = await dump();
    const open_ = () => page.evaluate((name) => outcome(railgate.Sandbox.open({ name })), name);
    assert.deepEqual((await open_()).error, { name: "StorageError", code: "storage_corrupt", retryable: false, ours: true });
    assert.equal(await dump(), damaged);
    await page.evaluate((name) => railgate.Sandbox.erase(name), name);
    await open(name, { tab: page });
    assert.deepEqual(await page.evaluate(async () => (await sandbox.list()).data), []);
    await ended(page);
  });
}

test("a newer layout takes over from an older tab, with everything", async () => {
  const old = await open("upgrade");
  await old.evaluate(() => pay("inv-1"));
  const page = await browser.tab(site.url);
  const stored = await page.evaluate(async () => {
    const newer = [...parts.UPGRADES, (db) => db.createObjectStore("another")];
    const storage = await parts.openIndexedDb("upgrade", newer);
    const { last } = await storage.load();
    storage.close();
    return last;
  });
  assert.ok(stored > 1);
  const told = await old.evaluate(() => outcome(pay("inv-2")));
  assert.deepEqual(told.error, { name: "StorageError", code: "storage_version", retryable: false, ours: true });
  const reopened = await page.evaluate(async () => {
    try {
      await railgate.Sandbox.open({ name: "upgrade" });
    } catch (error) {
      return error.code;
    }
  });
  assert.equal(reopened, "storage_version");
  await ended(old, page);
});

test("without a secure context there is no sharing, and the sandbox says so; in memory it works", async () => {
  const page = await browser.tab(site.url.replace("localhost", "railgate.test"));
  const seen = await page.evaluate(async () => {
    const refused = await railgate.Sandbox.open().catch((error) => error.code);
    const sandbox = await railgate.Sandbox.open({ storage: "memory" });
    await sandbox.create({ amount: 1, currency: "EUR", to: "sim:ok", reference: "a" });
    return [refused, (await sandbox.settled("a")).status];
  });
  assert.deepEqual(seen, ["storage_unavailable", "completed"]);
  await ended(page);
});

test("a page that may store nothing is told so by an error of ours; in memory it works", async () => {
  // Such a page cannot load anything, not even from its own site.
  const script = await bundle(fileURLToPath(new URL("page.js", import.meta.url)), { minify: true });
  const look = async () => {
    const code = (error) => (error instanceof railgate.RailgateError ? `${error.name} ${error.code} ${error.retryable}` : `${error}`);
    const refused = [
      railgate.Sandbox.open(),
      railgate.Sandbox.erase(),
      parts.openIndexedDb("x"),
      parts.indexedDbVault().signer(),
      railgate.Sandbox.open({ storage: "memory" }).then((sandbox) => sandbox.close()),
    ];
    parent.postMessage(await Promise.all(refused.map((call) => call.then(() => "done", code))), "*");
  };
  const body = `<!doctype html><script type="module">${script.replaceAll("</script", "<\\/script")};(${look})()</script>`;
  site.routes["/frame"] = { type: "text/html", body };
  const page = await browser.tab(site.url);
  const told = await page.evaluate(
    () =>
      new Promise((resolve) => {
        addEventListener("message", ({ data }) => resolve(data));
        const frame = document.createElement("iframe");
        frame.setAttribute("sandbox", "allow-scripts");
        frame.src = "/frame";
        document.body.append(frame);
      }),
  );
  assert.deepEqual(told, [...Array(4).fill("StorageError storage_unavailable false"), "done"]);
  await ended(page);
});

test("two that write at once, should a browser ever let them, do not mix: whoever is late reads what is there and begins anew", async () => {
  const page = await browser.tab(site.url);
  const seen = await page.evaluate(async () => {
    const gateway = await parts.openGateway();
    const writer = async () => {
      const storage = await parts.openIndexedDb("writers");
      const lost = (error) => console.error(error);
      const keeper = await parts.Keeper.open({
        open: gateway,
        storage,
        now: Date.now,
        seed: () => crypto.getRandomValues(new Uint8Array(32)),
        automatic: true,
        changed() {},
        lost,
      });
      return (call) =>
        new Promise((resolve, reject) =>
          keeper.submit({
            request: JSON.stringify(call),
            keep: undefined,
            signal: undefined,
            resolve: (answer) => resolve(JSON.parse(answer)),
            reject,
          }),
        );
    };
    const [first, second] = [await writer(), await writer()];
    const body = (reference) => ({ call: "create", body: { amount: 1, currency: "EUR", to: "sim:ok", reference } });
    await first(body("a"));
    const late = (await second(body("b"))).status;
    const both = await Promise.all([first(body("c")), second(body("d"))]);
    const list = await first({ call: "list" });
    return [
      late,
      ...both.map(({ status }) => status),
      list.ok.data
        .map(({ reference }) => reference)
        .sort()
        .join(""),
    ];
  });
  assert.deepEqual(seen, [201, 201, 201, "abcd"]);
  await ended(page);
});

test("when the user clears what the site stored, an open sandbox says that it is gone", async () => {
  const origin = site.url.replace("localhost", "127.0.0.1");
  const page = await openSandbox(browser.tab(origin), "cleared");
  await page.evaluate(() => pay("inv-1"));
  const session = await browser.context.newCDPSession(page);
  await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "indexeddb" });
  const { error } = await page.evaluate(() => outcome(pay("inv-2").catch(() => pay("inv-2"))));
  assert.deepEqual(error, { name: "StorageError", code: "storage_erased", retryable: false, ours: true });
  await ended(page);
});

test("a program for any gateway runs in a sandbox that is stored", async () => {
  const page = await browser.tab(site.url);
  await page.evaluate(async () => parts.program(await railgate.Sandbox.open({ name: "program" })));
  await ended(page);
});
