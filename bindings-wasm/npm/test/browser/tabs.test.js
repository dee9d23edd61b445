// Several tabs with one sandbox: one leads, the others follow it live and take over when it ends, for whatever reason.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser, freshProfile } from "./chromium.js";
import { ended, openSandbox, testSite } from "./site.js";

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

const open = (name) => openSandbox(browser.tab(site.url), name);
const leads = (page) => page.evaluate(() => sandbox.leads);
/** Delays the response at `path` until `letGo`; `asked` resolves when a page requests it. */
function gate(path) {
  let asked;
  const first = new Promise((resolve) => (asked = resolve));
  // A function that returns nothing.
  site.routes[path] = () => void asked();
  return { asked: first, letGo: () => (site.routes[path] = { type: "text/plain", body: "now" }) };
}
const cents = (amount) => Math.round(Number(amount) * 100);

/** A timeout against hangs; the speed of a busy machine is not tested. */
function withinAMinute(promise) {
  let guard;
  const late = new Promise((_, reject) => (guard = setTimeout(reject, 60_000, new Error("not within a minute"))));
  return Promise.race([promise, late]).finally(() => clearTimeout(guard));
}

test("two tabs write and read one sandbox, and only one of them leads", async () => {
  const [first, second] = [await open("pair"), await open("pair")];
  assert.deepEqual([await leads(first), await leads(second)], [true, false]);
  const many = (page, prefix) =>
    page.evaluate((prefix) => Promise.all(Array.from({ length: 150 }, (_, i) => pay(`${prefix}-${i}`))), prefix);
  const [ours, theirs] = await Promise.all([many(first, "first"), many(second, "second")]);
  assert.ok([...ours, ...theirs].every(({ replayed, settlement }) => !replayed && settlement.amount === "10.50"));
  const view = (page) =>
    page.evaluate(async () => {
      const feed = [];
      for (let after = 0; ;) {
        const page = await sandbox.feed({ after, limit: 200 });
        feed.push(...page.data);
        if (!page.has_more) return { feed, balance: await sandbox.balance("EUR").then(({ available }) => available) };
        after = page.next_after;
      }
    });
  await second.evaluate(() => Promise.all([sandbox.settled("first-149"), sandbox.settled("second-149")]));
  const seen = await view(first);
  assert.deepEqual(await view(second), seen);
  assert.deepEqual(
    seen.feed.map(({ position }) => position),
    seen.feed.map((_, i) => i + 1),
  );
  assert.equal(
    new Set(seen.feed.filter(({ event }) => event.type === "settlement.completed").map(({ event }) => event.reference)).size,
    300,
  );
  await ended(first, second);
});

test("a second tab hears errors as the first does, and checks arguments itself", async () => {
  const [first, second] = [await open("errors"), await open("errors")];
  const look = (page) =>
    page.evaluate(async () => {
      const said = async (call) =>
        call().then(
          () => "nothing",
          ({ name, code, errors, status, message }) => ({ name, code, errors, status, message }),
        );
      return [
        await said(() => sandbox.create({ amount: "1.005", currency: "EUR", to: "nowhere", reference: "a b" })),
        await said(() => sandbox.get("missing")),
        await said(() => sandbox.get(42)),
      ];
    });
  const heard = await look(first);
  assert.deepEqual(
    heard.map(({ name }) => name),
    ["ValidationError", "NotFoundError", "TypeError"],
  );
  assert.deepEqual(heard[0].errors.map(({ pointer }) => pointer).sort(), ["/amount", "/reference", "/to"]);
  assert.deepEqual(await look(second), heard);
  await ended(first, second);
});

test("a watch in the second tab sees what the first does as it happens, in order and without gaps", async () => {
  const [first, second] = [await open("live"), await open("live")];
  const watched = second.evaluate(async () => {
    const seen = [];
    for await (const { position, event } of sandbox.followFeed()) {
      seen.push([position, event.reference, event.type]);
      if (event.reference === "last" && event.type === "settlement.completed") return seen;
    }
  });
  await first.evaluate(async () => {
    for (let n = 0; n < 10; n += 1) await pay(`inv-${n}`);
    await pay("last");
  });
  const seen = await watched;
  assert.deepEqual(
    seen.map(([position]) => position),
    seen.map((_, i) => i + 1),
  );
  assert.equal(seen.filter(([, , type]) => type === "settlement.completed").length, 11);
  await ended(first, second);
});

test("a task that is due is done on time, and the second tab hears of it", async () => {
  const [first, second] = [await open("due"), await open("due")];
  await first.evaluate(async () => {
    await sandbox.setClock({ frozen: true });
    await pay("slow", { to: "sim:slow-30s" });
  });
  assert.equal(await second.evaluate(async () => (await sandbox.status("slow")).status), "submitted");
  await first.evaluate(() => sandbox.setClock({ frozen: false, advance_ms: 29_500 }));
  assert.equal(await second.evaluate(async () => (await sandbox.settled("slow")).status), "completed");
  await ended(first, second);
});

test("closing the sandbox hands over, without loss of a call; what is disposed of says so", async () => {
  const [first, second] = [await open("handover"), await open("handover")];
  await second.evaluate(() => {
    globalThis.paid = Promise.all(Array.from({ length: 100 }, (_, i) => pay(`inv-${i}`)));
  });
  await first.evaluate(() => sandbox.close());
  const made = await second.evaluate(() => paid);
  assert.equal(made.length, 100);
  await second.evaluate(() => sandbox.settled("inv-99"));
  assert.equal(await leads(second), true);
  const late = await first.evaluate(async () => {
    const calls = [() => pay("late"), () => sandbox.get("inv-0"), async () => sandbox.followFeed(), async () => sandbox.leads];
    return Promise.all(calls.map((call) => outcome(call())));
  });
  for (const { error } of late) assert.deepEqual(error, { name: "DisposedError", code: "disposed", retryable: false, ours: true });
  await ended(first, second);
});

test("a tab whose storage fails as it takes over tries again; one that is closed meanwhile does not", async () => {
  const [first, second, third] = [await open("stumbles"), await open("stumbles"), await open("stumbles")];
  const fail = (page, times) =>
    page.evaluate((times) => {
      const { transaction } = IDBDatabase.prototype;
      globalThis.failed = new Promise((resolve) => {
        IDBDatabase.prototype.transaction = function (...how) {
          if (times-- <= 0) return transaction.apply(this, how);
          resolve();
          throw new DOMException("not now", "UnknownError");
        };
      });
    }, times);
  await fail(second, 2);
  await fail(third, Infinity);
  await first.evaluate(() => sandbox.close());
  assert.equal(await second.evaluate(async () => (await sandbox.fund({ amount: "1.00", currency: "EUR" })).available), "1000001.00");
  assert.equal(await leads(second), true);
  const asked = second.evaluate(() => sandbox.close());
  await third.evaluate(() => failed);
  const told = third.evaluate(() => outcome(sandbox.fund({ amount: "1.00", currency: "EUR" })));
  await third.evaluate(() => sandbox.close());
  assert.equal((await told).error.code, "disposed");
  await asked;
  // The lock is free again.
  const fourth = await open("stumbles");
  assert.equal(await leads(fourth), true);
  assert.equal(await fourth.evaluate(async () => (await sandbox.balance("EUR")).available), "1000001.00");
  await ended(first, second, third, fourth);
});

test("a tab that is killed while it works is followed by the next, and every call is carried out once", async () => {
  const pages = [await open("killed"), await open("killed"), await open("killed")];
  const start = cents(await pages[2].evaluate(async () => (await sandbox.balance("EUR")).available));
  let answered = 0;
  // A repeated call would add the money twice: only the stored answers prevent that.
  for (const page of pages.slice(1)) {
    await page.exposeBinding("answered", () => (answered += 1));
    await page.evaluate(() => {
      globalThis.stopped = false;
      const fund = async () => {
        for (let n = 0; !stopped; n += 1) {
          await sandbox.fund({ amount: "0.01", currency: "EUR" });
          await globalThis.answered();
        }
      };
      globalThis.over = Promise.all([fund(), fund(), fund(), fund()]);
      globalThis.stop = async () => {
        globalThis.stopped = true;
        await over;
      };
    });
  }
  const reached = async (count) => {
    for (;;) if ((await pages[2].evaluate(() => sandbox.status("none").catch(() => undefined)), answered >= count)) return;
  };
  await reached(40);
  await browser.killTab(pages[0]);
  await reached(120);
  const second = (await leads(pages[1])) ? pages[1] : pages[2];
  const third = second === pages[1] ? pages[2] : pages[1];
  await second.evaluate(() => stop());
  await reached(answered + 10);
  await browser.killTab(second);
  const before = answered;
  for (;;) if ((await third.evaluate(() => sandbox.balances()), answered >= before + 40)) break;
  await third.evaluate(() => stop());
  assert.equal(await leads(third), true);
  const held = cents(await third.evaluate(async () => (await sandbox.balance("EUR")).available));
  assert.equal(held - start, answered);
  await ended(third);
});

test("erasing a sandbox is told to every tab that has it open, and none goes on with the new one unasked", async () => {
  const [first, second] = [await open("erased"), await open("erased")];
  await first.evaluate(async () => sandbox.settled((await pay("inv-1")).settlement.id));
  const end = await second.evaluate(async () => (await sandbox.feed()).next_after);
  const waiting = second.evaluate((after) => outcome(sandbox.settled("never", {}).catch(() => sandbox.followFeed({ after }).next())), end);
  const third = await browser.tab(site.url);
  await third.evaluate(() => railgate.Sandbox.erase("erased"));
  const told = { name: "StorageError", code: "storage_erased", retryable: false, ours: true };
  assert.deepEqual((await first.evaluate(() => outcome(pay("inv-2")))).error, told);
  assert.deepEqual((await waiting).error, told);
  assert.deepEqual((await second.evaluate(() => outcome(pay("inv-3")))).error, told);
  await openSandbox(third, "erased");
  assert.deepEqual(await third.evaluate(async () => (await sandbox.list()).data), []);
  await ended(first, second, third);
});

test("a signal ends the waiting, in the leading tab and in another", async () => {
  const pages = [await open("signals"), await open("signals")];
  for (const page of pages) {
    const seen = await page.evaluate(async () => {
      const gone = AbortSignal.abort(new Error("gone"));
      const later = new AbortController();
      const { settlement } = await pay(`never-${sandbox.leads}`, { to: "sim:pending" });
      // Accepted, submitted, its attempt started and answered: nothing more happens to it.
      while ((await sandbox.events(settlement.id)).data.length < 4);
      const { next_after: after } = await sandbox.feed();
      const watch = sandbox.followFeed({ after, signal: later.signal });
      const calls = [watch.next(), sandbox.settled(settlement.id, { signal: later.signal }), sandbox.get("x", { signal: gone })];
      const ends = Promise.all(
        calls.map((call) =>
          call.then(
            () => "answered",
            ({ message }) => message,
          ),
        ),
      );
      const quiet = sandbox.followFeed({ after });
      const next = quiet.next();
      await sandbox.balances();
      later.abort(new Error("later"));
      await quiet.return();
      return [...(await ends), (await next).done];
    });
    assert.deepEqual(seen, ["later", "later", "gone", true]);
  }
  await ended(...pages);
});

test("a tab that hangs keeps the others waiting no longer than they want", async () => {
  const page = await browser.tab(site.url);
  const seen = await page.evaluate(async () => {
    let letGo;
    const held = new Promise((resolve) =>
      navigator.locks.request("railgate:hangs", () => new Promise((release) => resolve((letGo = release)))),
    );
    await held;
    const giveUp = new AbortController();
    const waiting = railgate.Sandbox.open({ name: "hangs", signal: giveUp.signal }).catch((error) => error.message);
    giveUp.abort(new Error("no longer"));
    const said = [await waiting];
    const later = new AbortController();
    const again = railgate.Sandbox.open({ name: "hangs", signal: later.signal }).catch((reason) => reason);
    // It waits for the lock by now, so everything is loaded.
    while (!(await navigator.locks.query()).pending.some(({ name }) => name === "railgate:hangs"));
    later.abort("stop");
    said.push(await again);
    letGo();
    const sandbox = await railgate.Sandbox.open({ name: "hangs", signal: new AbortController().signal });
    return [...said, sandbox.leads];
  });
  assert.deepEqual(seen, ["no longer", "stop", true]);
  await ended(page);
});

test("two tabs whose storage takes long to open both open", async () => {
  const closed = await open("slow");
  await closed.evaluate(() => sandbox.close());
  const pages = [await browser.tab(site.url), await browser.tab(site.url)];
  for (const page of pages) {
    await page.evaluate(() => {
      const { set } = Object.getOwnPropertyDescriptor(IDBRequest.prototype, "onsuccess");
      // As on a slow disk: the database opens only after the time in which a silent tab is replaced.
      Object.defineProperty(IDBOpenDBRequest.prototype, "onsuccess", {
        set(hear) {
          set.call(this, (event) => setTimeout(() => hear.call(this, event), 8_000));
        },
      });
      globalThis.opened = railgate.Sandbox.open({ name: "slow" }).then((open) => (globalThis.sandbox = open));
    });
  }
  for (const page of pages) await withinAMinute(page.evaluate(async () => void (await opened)));
  // Whichever was first to request it.
  assert.deepEqual((await Promise.all(pages.map(leads))).toSorted(), [false, true]);
  await ended(closed, ...pages);
});

test("a tab that hangs for good while it opens is replaced, though it goes on saying that it is there", async () => {
  const first = await browser.tab(site.url);
  await first.evaluate(async () => {
    const { now } = Date;
    const asked = new Promise((resolve) => {
      IDBFactory.prototype.open = () => {
        // It did so for a minute.
        Date.now = () => now.call(Date) + 60_000;
        resolve();
        return {};
      };
    });
    globalThis.opened = railgate.Sandbox.open({ name: "stuck" });
    await asked;
  });
  const second = await browser.tab(site.url);
  await withinAMinute(openSandbox(second, "stuck"));
  assert.equal(await leads(second), true);
  assert.equal(await first.evaluate(async () => (await opened).leads), false);
  await ended(first, second);
});

test("a leader that hangs is replaced; when it comes back it follows, and nothing was done twice", async () => {
  const [first, second] = [await open("hung"), await open("hung")];
  const fund = () => sandbox.fund({ amount: "1.00", currency: "EUR" });
  await second.evaluate(fund);
  const released = gate("/released");
  const hanging = first.evaluate(() => {
    // Nothing runs in this page until the test ends that. It finds messages from that time afterwards.
    for (;;) {
      const request = new XMLHttpRequest();
      request.open("GET", "/released", false);
      request.send();
      if (request.status === 200) return;
    }
  });
  await released.asked;
  const watched = second.evaluate(async () => {
    for await (const { event } of sandbox.followFeed()) if (event.type === "settlement.completed") return event.reference;
  });
  const funded = second.evaluate(() => Promise.all(Array.from({ length: 5 }, () => sandbox.fund({ amount: "1.00", currency: "EUR" }))));
  await second.evaluate(() => pay("inv-1"));
  assert.equal((await funded).length, 5);
  assert.equal(await watched, "inv-1");
  assert.equal(await leads(second), true);
  released.letGo();
  await hanging;
  const again = await first.evaluate(async () => (await sandbox.fund({ amount: "1.00", currency: "EUR" })).available);
  assert.equal(again, "999996.50"); // a million, seven more, and 10.50 less
  assert.deepEqual([await leads(first), await leads(second)], [false, true]);
  assert.equal(await first.evaluate(async () => (await sandbox.get("inv-1")).status), "completed");
  await ended(first, second);
});

test("what a leader wrote after it was replaced is seen by the one that replaced it", async () => {
  const [first, second] = [await open("woken"), await open("woken")];
  const woken = gate("/woken");
  const paid = first.evaluate(async () => {
    const paid = sandbox.create({ amount: "10.50", currency: "EUR", to: "sim:timeout-then-ok", reference: "inv-1" });
    for (;;) {
      const request = new XMLHttpRequest();
      request.open("GET", "/woken", false);
      request.send();
      if (request.status === 200) break;
    }
    await paid;
    return (await sandbox.get("inv-1")).reference;
  });
  await woken.asked;
  assert.deepEqual(await second.evaluate(async () => (await sandbox.list()).data), []);
  assert.equal(await leads(second), true);
  woken.letGo();
  assert.equal(await paid, "inv-1");
  assert.deepEqual([await leads(first), await leads(second)], [false, true]);
  // The tasks that it left are done.
  assert.equal(await second.evaluate(async () => (await sandbox.settled("inv-1")).status), "completed");
  assert.equal(await first.evaluate(async () => (await sandbox.balance("EUR")).available), "999989.50");
  await ended(first, second);
});

test("a call that is asked of one leader twice, for another spoke up in between, is carried out once", async () => {
  const [first, second] = [await open("twice"), await open("twice")];
  await first.evaluate(async () => {
    const channel = new BroadcastChannel("railgate:twice");
    const heard = (kind, leader) =>
      new Promise((resolve) =>
        channel.addEventListener("message", function hear({ data }) {
          if (data.kind !== kind || (leader !== undefined && data.leader !== leader)) return;
          channel.removeEventListener("message", hear);
          resolve(data);
        }),
      );
    const known = heard("leader");
    channel.postMessage({ kind: "hello", protocol: 1 });
    const leader = await known;
    // A transaction that is kept open makes this tab's writes wait.
    const db = await new Promise((resolve) => {
      const opening = indexedDB.open(parts.databaseName("twice"));
      opening.onsuccess = () => resolve(opening.result);
    });
    let hold = true;
    const store = db.transaction("state", "readwrite").objectStore("state");
    const again = () => {
      if (hold) store.count().onsuccess = again;
      else db.close();
    };
    again();
    globalThis.own = sandbox.fund({ amount: "0.01", currency: "EUR" });
    const asked = heard("asked", leader.leader);
    globalThis.askedTwice = (async () => {
      await asked;
      // Like a tab that resumes and does not yet know that it was replaced.
      const ofOther = heard("asked", "late");
      channel.postMessage({ ...leader, leader: "late" });
      await ofOther;
      const anew = heard("asked", leader.leader);
      channel.postMessage(leader);
      await anew;
      await new Promise((resolve) => setTimeout(resolve));
      hold = false;
      channel.close();
    })();
  });
  const theirs = second.evaluate(() => sandbox.fund({ amount: "1.00", currency: "EUR" }));
  await first.evaluate(() => askedTwice);
  assert.equal((await theirs).available, "1000001.01");
  assert.equal(await second.evaluate(async () => (await sandbox.balance("EUR")).available), "1000001.01");
  await ended(first, second);
});

test("a call that the leader was asked for while it had lost the lock is answered once it has it again", async () => {
  const first = await open("regained");
  const second = await browser.tab(site.url);
  // It stays after the other one in the queue, which otherwise would have to steal the lock from a third.
  await second.evaluate(() => (LockManager.prototype.request = () => new Promise(() => undefined)));
  await openSandbox(second, "regained");
  await first.evaluate(async () => {
    const channel = new BroadcastChannel("railgate:regained");
    const asked = new Promise((resolve) => (channel.onmessage = ({ data }) => data.kind === "asked" && resolve()));
    globalThis.regain = await new Promise((resolve) => {
      void navigator.locks.request("railgate:regained", { steal: true }, async () => {
        while (sandbox.leads) await new Promise((resolve) => setTimeout(resolve));
        let letGo;
        const held = new Promise((resolve) => (letGo = resolve));
        resolve(async () => {
          await asked;
          await new Promise((resolve) => setTimeout(resolve));
          letGo();
          channel.close();
        });
        await held;
      });
    });
  });
  const funded = second.evaluate(async () => (await sandbox.fund({ amount: "1.00", currency: "EUR" })).available);
  await first.evaluate(() => regain());
  assert.equal(await withinAMinute(funded), "1000001.00");
  assert.deepEqual([await leads(first), await leads(second)], [true, false]);
  await ended(first, second);
});

test("a worker shares the sandbox with its page, and goes on when the page closes its own", async () => {
  const page = await open("worker");
  const seen = await page.evaluate(async () => {
    const worker = new Worker("/worker.js", { type: "module" });
    const heard = () =>
      new Promise((resolve, reject) => Object.assign(worker, { onmessage: ({ data }) => resolve(data), onerror: reject }));
    await heard();
    const ask = (reference) => {
      const answer = heard();
      worker.postMessage(reference);
      return answer;
    };
    const [id, leads] = await ask("a");
    const same = (await sandbox.get("a")).id === id;
    await sandbox.close();
    const [, takesOver] = await ask("b");
    worker.terminate();
    return { leads, same, takesOver };
  });
  assert.deepEqual(seen, { leads: false, same: true, takesOver: true });
  await ended(page);
});
