// Signing in: keys that stay in the browser, identities, and what a page may do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { enrolled, looks, person, stage } from "./console.js";

const { gateway, browser } = await stage();

test("a client signs in with a key made here, and is still there after a reload", async () => {
  const { page, context, fine } = await person(browser);
  await page.goto(`${gateway.url}/console`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await looks(page, "sign-in");
  await enrolled(page, gateway);
  await page.reload();
  await page.getByRole("button", { name: "Corner shop" }).waitFor();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  fine();
  await context.close();
});

test("a fault of the page itself is shown, too", async () => {
  const { page, context } = await person(browser);
  const lost = [];
  page.on("pageerror", (error) => lost.push(String(error)));
  await page.goto(`${gateway.url}/console`);
  // The client refuses an empty name with a `TypeError`, before it sends anything.
  await page.getByLabel("Name of the client").fill("  ");
  await page.getByRole("button", { name: "Make a key and start" }).click();
  await page.getByRole("alert").getByText("name").waitFor();
  assert.deepEqual(lost, []);
  await context.close();
});

test("no token is in any storage, and the key cannot be copied", async () => {
  const { page, context } = await person(browser);
  await enrolled(page, gateway, "Careful shop");
  const stored = await page.evaluate(async () => {
    const database = await new Promise((resolve, reject) => {
      const request = indexedDB.open("railgate-console");
      request.onsuccess = () => resolve(request.result);
      request.onerror = reject;
    });
    const store = database.transaction("vault").objectStore("vault");
    const values = await new Promise((resolve) => (store.getAll().onsuccess = (event) => resolve(event.target.result)));
    database.close();
    const key = values.find((value) => value.privateKey !== undefined);
    const exported = await Promise.allSettled(["pkcs8", "jwk"].map((form) => crypto.subtle.exportKey(form, key.privateKey)));
    const texts = [
      values.map((value) => JSON.stringify(value)),
      Object.values(localStorage),
      Object.values(sessionStorage),
      document.cookie,
    ];
    return { texts: JSON.stringify(texts), exported: exported.map(({ status }) => status), extractable: key.privateKey.extractable };
  });
  assert.doesNotMatch(stored.texts, /rg_(sandbox|live)_|whsec_/);
  assert.match(stored.texts, /Careful shop/);
  assert.deepEqual(stored.exported, ["rejected", "rejected"]);
  assert.equal(stored.extractable, false);
  await context.close();
});

test("signing out says that the key is deleted, and deletes it", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Leaving shop");
  await page.getByRole("button", { name: "Leaving shop" }).click();
  await looks(page, "account");
  await page.getByRole("button", { name: "Sign out" }).click();
  const dialog = page.getByRole("dialog", { name: "Sign out as Leaving shop?" });
  await dialog.getByText("This deletes the key from this browser").waitFor();
  await dialog.getByRole("button", { name: "Delete the key and sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.equal(await page.getByText("Leaving shop").count(), 0);
  fine();
  await context.close();
});

test("an operator signs in with an invitation", async () => {
  const { page, context, fine } = await person(browser);
  await page.goto(`${gateway.url}/console`);
  const form = page.getByRole("region", { name: "Operator with an invitation" });
  await form.getByLabel("Invitation code").fill(gateway.invite("Ada", "admin"));
  await form.getByRole("button", { name: "Make a key and sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.getByRole("button", { name: "Ada" }).waitFor();
  fine();
  await context.close();
});

test("the keyboard reaches everything: palette, help, jumps", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Keyboard shop");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await looks(page, "keyboard");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("over");
  await looks(page, "palette");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  fine();
  await context.close();
});

test("pages are protected, and stale addresses are not answered with a page", async () => {
  const response = await fetch(`${gateway.url}/console/settlements/anything`);
  assert.equal(response.status, 200);
  const policy = response.headers.get("content-security-policy");
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /require-trusted-types-for 'script'/);
  assert.doesNotMatch(policy, /unsafe-(?!eval)|(?<!wasm-)unsafe-eval/);
  assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  assert.equal(response.headers.get("cache-control"), "no-cache");
  const html = await response.text();
  assert.doesNotMatch(html, /<script(?![^>]*src=)|<style|\son[a-z]+=|style=/);
  const again = await fetch(`${gateway.url}/console`, { headers: { "if-none-match": response.headers.get("etag") } });
  assert.equal(again.status, 304);
  const [, script] = /src="([^"]+)"/.exec(html);
  const texts = new Set();
  for (const encoding of ["br", "identity"]) {
    const asset = await fetch(gateway.url + script, { headers: { "accept-encoding": encoding } });
    assert.equal(asset.headers.get("content-encoding"), encoding === "br" ? "br" : null);
    assert.match(asset.headers.get("cache-control"), /immutable/);
    texts.add(await asset.text());
  }
  // A failed comparison must not print a whole script.
  assert.equal(texts.size, 1);
  assert.ok([...texts][0].includes("addEventListener"));
  assert.equal((await fetch(`${gateway.url}/console/assets/gone.js`)).status, 404);
});
