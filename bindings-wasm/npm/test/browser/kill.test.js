// The browser is killed repeatedly during writes: every acknowledged call is durable, and the state is sound.

import assert from "node:assert/strict";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { Browser, freshProfile } from "./chromium.js";
import { ended, openSandbox, testSite } from "./site.js";

/** The browser is killed after this many acknowledged creates, each time. */
const ROUNDS = [1, 40, 170, 23, 300];

/**
 * Runs a test again if the browser reports that it deleted its storage: Chromium (seen in 156) occasionally considers a log damaged
 * that a kill truncated and that was extended since ("Corruption: checksum mismatch"). A test below checks that it reports this.
 */
function unlessLost(what, options, run) {
  test(what, options, async (t) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await run();
      } catch (error) {
        if (error.code !== "storage_lost" || tries === 5) throw error;
        t.diagnostic("the browser deleted what was stored; begun anew");
      }
    }
  });
}

unlessLost("a browser that is killed in mid-write loses nothing that was answered", {}, async () => {
  const site = await testSite();
  const profile = await freshProfile();
  const answered = new Map();
  let browser;
  try {
    for (const [round, until] of ROUNDS.entries()) {
      browser = await Browser.start(profile.folder);
      const pages = [await openSandbox(browser.tab(site.url), "kill"), await openSandbox(browser.tab(site.url), "kill")];
      await assertAllThere(pages[0], answered);
      await killAfter(browser, pages, round, until, answered);
    }
    browser = await Browser.start(profile.folder);
    const page = await openSandbox(browser.tab(site.url), "kill");
    await assertAllThere(page, answered);
    await assertSound(page);
    await ended(page);
    await browser.kill();
  } finally {
    await browser?.kill();
    await site.close();
    await profile.remove();
  }
  assert.ok(answered.size >= ROUNDS.reduce((sum, n) => sum + n));
});

unlessLost(
  "when the browser's storage dies and comes back, so does the sandbox, and every answer is true",
  { skip: process.platform !== "linux" && "finds the process in /proc" },
  async () => {
    const site = await testSite();
    const profile = await freshProfile();
    let browser;
    try {
      browser = await Browser.start(profile.folder);
      const page = await openSandbox(browser.tab(site.url), "storage");
      let answers = 0;
      let enough = 30;
      let reached;
      let failed;
      await page.exposeBinding("answered", () => {
        answers += 1;
        if (answers >= enough) reached?.();
      });
      await page.exposeBinding("lost", (_, code) => failed(Object.assign(new Error(code), { code })));
      const until = (count) => {
        enough = answers + count;
        return new Promise((resolve, reject) => ([reached, failed] = [resolve, reject]));
      };
      const first = until(30);
      await page.evaluate(fundForEver);
      await first;
      for (let times = 0; times < 3; times += 1) {
        await browser.killStorage();
        // From then on the next process does the storage.
        await until(40);
      }
      const { kept, lost, unclear } = await page.evaluate(() => stop());
      // The outcome of a write in flight is unknown while the storage cannot be read again; this is rare.
      assert.deepEqual(
        unclear.filter((code) => code !== "outcome_unknown"),
        [],
      );
      assert.ok(kept >= 150, `${kept} kept, ${lost} to be tried again, ${unclear.length} unclear`);
      await page.reload();
      await openSandbox(page, "storage");
      const held = Number(await page.evaluate(async () => (await sandbox.balance("EUR")).available)) - 1_000_000;
      assert.ok(kept <= held && held <= kept + unclear.length, `${held} held, ${kept} kept, ${unclear.length} unclear`);
      await ended(page);
    } finally {
      await browser?.kill();
      await site.close();
      await profile.remove();
    }
  },
);

/** Adds one EUR repeatedly: the total is right only if every answer is exact. */
function fundForEver() {
  const seen = { kept: 0, lost: 0, unclear: [] };
  let stopped = false;
  const fund = async () => {
    while (!stopped) {
      const { error } = await outcome(sandbox.fund({ amount: "1.00", currency: "EUR" }));
      if (error === undefined) {
        seen.kept += 1;
        await globalThis.answered();
      } else if (error.code === "storage_failed" && error.retryable) {
        seen.lost += 1;
      } else if (error.code === "storage_lost") {
        return globalThis.lost(error.code);
      } else {
        seen.unclear.push(error.code);
      }
    }
  };
  const over = Promise.all([fund(), fund(), fund()]);
  globalThis.stop = async () => {
    stopped = true;
    await over;
    return seen;
  };
}

test("what the browser took for damaged and deleted is told once, not taken for a new sandbox", async () => {
  const site = await testSite();
  const profile = await freshProfile();
  let browser;
  try {
    browser = await Browser.start(profile.folder);
    const page = await openSandbox(browser.tab(site.url), "damaged");
    await page.evaluate(() => pay("inv-1"));
    await browser.kill();
    await damage(join(profile.folder, "Default/IndexedDB"));
    browser = await Browser.start(profile.folder);
    const tab = await browser.tab(site.url);
    await assert.rejects(openSandbox(tab, "damaged"), { code: "storage_lost", retryable: false });
    const again = await openSandbox(tab, "damaged");
    assert.deepEqual(await again.evaluate(async () => (await sandbox.list()).data), []);
    await ended(again);
  } finally {
    await browser?.kill();
    await site.close();
    await profile.remove();
  }
});

/** Flips a bit in the middle of each log of the databases in a folder. */
async function damage(folder) {
  const logs = (await readdir(folder, { recursive: true })).filter((name) => /[0-9]+\.log$/.test(name));
  assert.ok(logs.length > 0, "the browser keeps no logs any more");
  for (const name of logs) {
    const bytes = await readFile(join(folder, name));
    bytes[bytes.length >> 1] ^= 1;
    await writeFile(join(folder, name), bytes);
  }
}

for (const [what, key] of [
  ["a group", "head"],
  ["a snapshot that takes the place of the journal", "snapshot"],
]) {
  test(`a browser that is killed between the writing of ${what} and its end keeps what was before, whole`, async () => {
    const site = await testSite();
    const profile = await freshProfile();
    let browser;
    try {
      browser = await Browser.start(profile.folder);
      const page = await openSandbox(browser.tab(site.url), "between");
      const paid = await page.evaluate(payUntilNearlyFolded);
      const stuck = new Promise((resolve) => page.exposeBinding("stuck", resolve).then(() => page.evaluate(payAndHangBeforeTheEnd, key)));
      await stuck;
      await browser.kill();
      browser = await Browser.start(profile.folder);
      const again = await openSandbox(browser.tab(site.url), "between");
      const left = await again.evaluate(
        async (n) => [(await sandbox.settled(`inv-${n}`)).status, (await sandbox.list({ reference: "never" })).data.length],
        paid - 1,
      );
      assert.deepEqual(left, ["completed", 0]);
      await again.evaluate(() => pay("never"));
      await assertSound(again);
      await ended(again);
    } finally {
      await browser?.kill();
      await site.close();
      await profile.remove();
    }
  });
}

/** Makes the journal so long that a large payment triggers a snapshot. */
async function payUntilNearlyFolded() {
  for (let n = 0; n < 400; n += 100) await Promise.all(Array.from({ length: 100 }, (_, i) => pay(`inv-${n + i}`)));
  return 400;
}

/** The next write that puts `key` never ends: from then on the page is busy for ever. */
function payAndHangBeforeTheEnd(key) {
  const { put } = IDBObjectStore.prototype;
  const { commit } = IDBTransaction.prototype;
  let reached = false;
  IDBObjectStore.prototype.put = function (value, name) {
    reached ||= name === key;
    return put.call(this, value, name);
  };
  IDBTransaction.prototype.commit = function () {
    if (!reached) return commit.call(this);
    globalThis.stuck();
    for (;;);
  };
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`note-${i}`, "x".repeat(500)]));
  void pay("never", { metadata });
  if (key === "snapshot") for (let n = 0; n < 20; n += 1) void pay(`never-${n}`, { metadata });
}

/** Pays from both tabs without pause, and kills the browser after some answers, while other calls are in flight. */
async function killAfter(browser, pages, round, until, answered) {
  let count = 0;
  let reached;
  let failed;
  const enough = new Promise((resolve, reject) => ([reached, failed] = [resolve, reject]));
  const heard = (_, [id, reference]) => {
    answered.set(reference, id);
    count += 1;
    if (count >= until) reached();
  };
  const begin = async (page, tab) => {
    await page.exposeBinding("answered", heard);
    await page.exposeBinding("lost", (_, code) => failed(Object.assign(new Error(code), { code })));
    await page.evaluate(payForEver, `${round}-${tab}`);
  };
  const begun = Promise.all(pages.map(begin));
  // Even if one fails early, none is killed while it is being prepared.
  await Promise.all([begun, enough.finally(() => begun)]);
  await browser.kill();
}

function payForEver(prefix) {
  const tills = Array.from({ length: 8 }, async (_, till) => {
    for (let n = 0; ; ) {
      const { value, error } = await outcome(pay(`r${prefix}-${till}-${n}`));
      if (error === undefined) {
        n += 1;
        void globalThis.answered([value.settlement.id, value.settlement.reference]);
      } else if (error.code !== "storage_failed" || !error.retryable) {
        return globalThis.lost(error.code);
      }
    }
  });
  // Not awaited: it ends with the browser.
  void Promise.all(tills);
}

async function assertAllThere(page, answered) {
  const missing = await page.evaluate(
    async (all) => {
      // A retryable call was not lost; any other error is reported.
      const look = async (reference, tries = 20) => {
        try {
          return (await sandbox.get(reference)).id;
        } catch (error) {
          return error.retryable && tries > 0 ? look(reference, tries - 1) : `${error.name} ${error.code}: ${error.message}`;
        }
      };
      const found = await Promise.all(all.map(([reference]) => look(reference)));
      return all.map(([reference, id], i) => ({ reference, id, found: found[i] })).filter(({ id, found }) => id !== found);
    },
    [...answered],
  );
  assert.deepEqual(missing, []);
}

/** Every event has its position, every payment is final, and the balances are right. */
async function assertSound(page) {
  const seen = await page.evaluate(async () => {
    const events = [];
    for (let after = 0; ;) {
      const page = await sandbox.feed({ after, limit: 200 });
      events.push(...page.data);
      if (!page.has_more) break;
      after = page.next_after;
    }
    const references = [...new Set(events.map(({ event }) => event.reference))];
    const ends = await Promise.all(references.map((reference) => sandbox.settled(reference)));
    const some = references.filter((_, i) => i % 50 === 0);
    const reconciled = await Promise.all(some.map((reference) => sandbox.reconcile(reference)));
    const { available, reserved, ledger } = await sandbox.balance("EUR");
    const debits = (await Promise.all(references.map((reference) => sandbox.get(reference)))).map(({ total_debit }) => total_debit);
    return { positions: events.map(({ position }) => position), ends, reconciled, available, reserved, ledger, debits };
  });
  assert.deepEqual(
    seen.positions,
    seen.positions.map((_, i) => i + 1),
  );
  assert.deepEqual([...new Set(seen.ends.map(({ status }) => status))], ["completed"]);
  assert.deepEqual(
    seen.reconciled.filter(({ consistent }) => !consistent),
    [],
  );
  assert.equal(seen.reserved, "0.00");
  assert.equal(seen.available, seen.ledger);
  const cents = (amount) => BigInt(amount.replaceAll(/[.,]/g, ""));
  const spent = seen.debits.reduce((sum, debit) => sum + cents(debit), 0n);
  assert.equal(cents(seen.ledger) + spent, 100_000_000n);
}
