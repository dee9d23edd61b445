// The client in Chromium, against a real server with another origin.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { baseUrl } from "../live/server.js";
import { Browser, freshProfile, serve } from "./chromium.js";
import { bundle } from "./site.js";

let site, stranger, profile, browser;
before(async () => {
  const script = await bundle(fileURLToPath(new URL("client-page.js", import.meta.url)));
  const routes = {
    "/": { type: "text/html", body: '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>' },
    "/page.js": { type: "text/javascript", body: script },
  };
  // The one origin that the server allows, and another.
  site = await serve(routes, Number(process.env.RAILGATE_TEST_PAGES));
  stranger = await serve(routes);
  profile = await freshProfile();
  browser = await Browser.start(profile.folder);
});
after(async () => {
  await browser?.kill();
  await site?.close();
  await stranger?.close();
  await profile?.remove();
});

async function tab(t, url = site.url) {
  const page = await browser.tab(url);
  t.after(async () => {
    assert.deepEqual(page.faults, []);
    await page.close();
  });
  return page;
}

/** Opens the client of that profile as `client`; returns the ids of its key and client. */
const open = (page, profile) =>
  page.evaluate(
    async ([baseUrl, profile]) => {
      globalThis.client = await railgate.RailgateClient.open({ baseUrl, vault: railgate.indexedDbVault({ profile }) });
      return { keyId: client.keyId, clientId: client.clientId };
    },
    [baseUrl, profile],
  );

const pay = (page, reference) =>
  page.evaluate(async (reference) => (await client.create({ amount: "10.50", currency: "EUR", to: "sim:ok", reference }, { waitS: 30 })).settlement, reference);

test("key and session outlive a reload, and nobody can read the key", async (t) => {
  const page = await tab(t);
  const before = await open(page, "reload");
  assert.equal(before.clientId, undefined);
  const { client_id: clientId } = await page.evaluate(() => client.enroll("Page"));
  assert.equal((await pay(page, "inv-1")).status, "completed");
  await page.reload();
  assert.deepEqual(await open(page, "reload"), { keyId: before.keyId, clientId });
  const second = await pay(page, "inv-2");
  assert.deepEqual([second.amount, second.status], ["10.50", "completed"]);

  const kept = await page.evaluate(async () => {
    const database = await new Promise((resolve, reject) => {
      const request = indexedDB.open("railgate-client");
      request.onsuccess = () => resolve(request.result);
      request.onerror = reject;
    });
    const key = await new Promise((resolve) => {
      const request = database.transaction("vault").objectStore("vault").get("key/reload");
      request.onsuccess = () => resolve(request.result);
    });
    database.close();
    const exported = await Promise.allSettled(["pkcs8", "jwk"].map((form) => crypto.subtle.exportKey(form, key.privateKey)));
    return {
      extractable: key.privateKey.extractable,
      exported: exported.map(({ status }) => status),
      elsewhere: [localStorage.length, sessionStorage.length, document.cookie],
    };
  });
  assert.deepEqual(kept, { extractable: false, exported: ["rejected", "rejected"], elsewhere: [0, 0, ""] });
});

test("tabs that come at once share one key", async (t) => {
  const tabs = await Promise.all([tab(t), tab(t), tab(t)]);
  const opened = await Promise.all(tabs.map((page) => open(page, "shared")));
  assert.equal(new Set(opened.map(({ keyId }) => keyId)).size, 1);
  await tabs[0].evaluate(() => client.enroll("Tabs"));
  await Promise.all(tabs.map((page, n) => pay(page, `tab-${n}`)));
  assert.equal(await tabs[1].evaluate(async () => (await client.list()).data.length), 3);
});

test("a key that one tab forgot is not brought back by another that still had it", async (t) => {
  const [one, two] = [await tab(t), await tab(t)];
  const { keyId } = await open(one, "forgotten");
  await one.evaluate(() => client.enroll("Forgetful"));
  await open(two, "forgotten");
  await two.evaluate(() => client.balances());
  await one.evaluate(() => client.forget());
  // Its token was revoked with the other's; with the key in memory it gets another.
  await two.evaluate(() => client.balances());
  const anew = await open(one, "forgotten");
  assert.notEqual(anew.keyId, keyId);
  assert.equal(anew.clientId, undefined);
});

test("a clock that is an hour off is found out and put right", async (t) => {
  const page = await tab(t);
  await page.evaluate(() => {
    const real = Date.now.bind(Date);
    Date.now = () => real() + 3_600_000;
  });
  await open(page, "skewed");
  await page.evaluate(() => client.enroll("Skewed"));
  assert.equal((await pay(page, "inv-1")).status, "completed");
});

test("a lost answer is asked for again, and events follow across breaks", async (t) => {
  const page = await tab(t);
  const seen = await page.evaluate(async (baseUrl) => {
    const lossy = lyingFetch(({ method, path }) =>
      method === "POST" && path.endsWith("/gateway/settlements") && lossy.told.length === 0 ? "lost answer" : undefined,
    );
    const patience = { pauseMs: 5, longestPauseMs: 50 };
    const client = await railgate.RailgateClient.open({ baseUrl, signer: await railgate.generateSigner(), fetch: lossy, patience });
    await client.enroll("Lossy");
    const { replayed } = await client.create({ amount: 7, currency: "EUR", to: "sim:ok", reference: "inv-1" });
    const events = [];
    for await (const { type } of client.follow("inv-1")) {
      events.push(type);
      if (type === "settlement.completed") break;
    }
    client.close();
    return { replayed, lies: lossy.told.length, events };
  }, baseUrl);
  const events = ["settlement.accepted", "settlement.submitted", "attempt.started", "attempt.answered", "settlement.completed"];
  assert.deepEqual(seen, { replayed: true, lies: 1, events });
});

test("a page reads what the server says about limits, clocks and challenges", async (t) => {
  const page = await tab(t);
  const names = ["date", "signature-challenge", "x-request-id"];
  const read = await page.evaluate(
    async ([baseUrl, names]) => {
      const answer = await fetch(`${baseUrl}/api/v1/auth/challenges`, { method: "POST" });
      return names.filter((name) => answer.headers.has(name));
    },
    [baseUrl, names],
  );
  assert.deepEqual(read, names);
});

test("a page of another origin is not let in, and hears so", async (t) => {
  const page = await tab(t, stranger.url);
  const { error } = await page.evaluate(async (baseUrl) => {
    const signer = await railgate.generateSigner();
    const client = await railgate.RailgateClient.open({ baseUrl, signer, patience: { attempts: 2, pauseMs: 1 } });
    return outcome(client.enroll("Stranger"));
  }, baseUrl);
  assert.deepEqual([error.name, error.code, error.reason, error.notSent], ["ConnectionError", "connection_lost", "blocked", true]);
  assert.ok(error.message.startsWith(`POST ${baseUrl}/api/v1/auth/challenges: `), error.message);
  assert.ok(error.message.includes(`--cors-origin ${stranger.url}`), error.message);
});

test("a program for any gateway runs against the server", async (t) => {
  const page = await tab(t);
  await page.evaluate(async (baseUrl) => {
    const client = await railgate.RailgateClient.open({ baseUrl, signer: await railgate.generateSigner() });
    await client.enroll("Program");
    await program(client);
  }, baseUrl);
});

test("a page adds its trace to calls, exports, and gets a document whole", async (t) => {
  const page = await tab(t);
  const seen = await page.evaluate(async (baseUrl) => {
    const statuses = [];
    const hooks = {
      before: () => ({ traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }),
      after: ({ status, requestId }) => statuses.push([status, requestId.length > 0]),
    };
    const client = await railgate.RailgateClient.open({ baseUrl, signer: await railgate.generateSigner(), hooks });
    await client.enroll("Traced");
    await client.create({ amount: 7, currency: "EUR", to: "sim:ok", reference: "inv-1" }, { waitS: 30 });
    const pdf = await client.receiptAs("inv-1", "application/pdf");
    const amounts = [];
    for await (const { amount } of client.export()) amounts.push(amount);
    await client.close();
    return { statuses, start: String.fromCharCode(...pdf.slice(0, 5)), end: String.fromCharCode(...pdf.slice(-6)).trim(), amounts };
  }, baseUrl);
  assert.deepEqual(seen.statuses.map(([status]) => status), [200, 201, 201, 200, 200]);
  assert.ok(seen.statuses.every(([, named]) => named));
  assert.deepEqual([seen.start, seen.end, seen.amounts], ["%PDF-", "%%EOF", ["7.00"]]);
});
