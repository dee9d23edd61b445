// Keys that a passkey locks, with an authenticator of Chromium's that is made for tests.
import assert from "node:assert/strict";
import { test } from "node:test";
import { enrolled, looks, person, stage } from "./console.js";
import { press, reach, type } from "./keys.js";

const { gateway, browser } = await stage();

const PASSKEYS = { protocol: "ctap2", ctap2Version: "ctap2_1", transport: "internal", hasResidentKey: true, hasUserVerification: true };

/** Somebody whose device has passkeys. */
async function holder(more = {}) {
  const { page, context, fine } = await person(browser);
  const cdp = await context.newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const options = { ...PASSKEYS, hasPrf: true, isUserVerified: true, automaticPresenceSimulation: true, ...more };
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", { options });
  const device = {
    /** The user closes the next dialog of the browser about a passkey. */
    dismissed: () =>
      page.evaluate(() => {
        for (const name of ["create", "get"]) {
          navigator.credentials[name] = () => {
            for (const one of ["create", "get"]) delete navigator.credentials[one];
            return Promise.reject(new DOMException("The operation either timed out or was not allowed.", "NotAllowedError"));
          };
        }
      }),
    /** Whether the device takes its user for the right one. One who is refused is locked out: the browser tries until there are no tries. */
    knows: (isUserVerified) => cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    passkeys: async () => (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
  };
  return { page, context, fine, device };
}

/** What the browser keeps of keys, and what can be done with it. */
function stored(page) {
  return page.evaluate(async () => {
    const all = async (database, name) => {
      const known = (await indexedDB.databases()).some((one) => one.name === database);
      if (!known) return [];
      const opened = await new Promise((resolve) => (indexedDB.open(database).onsuccess = ({ target }) => resolve(target.result)));
      const values = await new Promise(
        (resolve) => (opened.transaction(name).objectStore(name).getAll().onsuccess = ({ target }) => resolve(target.result)),
      );
      opened.close();
      return values;
    };
    const plain = (await all("railgate-console", "vault")).filter((one) => one.privateKey !== undefined);
    const locked = await all("railgate-console-locked", "keys");
    const P256 = { name: "ECDSA", namedCurve: "P-256" };
    const uses = [];
    for (const { wrapped, iv, publicKey } of locked) {
      const other = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["unwrapKey"]);
      const additionalData = await crypto.subtle.exportKey("raw", publicKey);
      const tries = await Promise.allSettled([
        crypto.subtle.importKey("pkcs8", wrapped, P256, false, ["sign"]),
        crypto.subtle.unwrapKey("pkcs8", wrapped, other, { name: "AES-GCM", iv, additionalData }, P256, false, ["sign"]),
      ]);
      uses.push(...tries.map(({ status }) => status));
    }
    const secretKeys = locked.flatMap((one) => Object.values(one)).filter((one) => one instanceof CryptoKey && one.type !== "public");
    return { plain: plain.length, locked: locked.length, uses, secretKeys: secretKeys.length };
  });
}

/** Has the passkey derive its secret from this instead: that is another secret, as another passkey has. Returns what it was before. */
function derivedFrom(page, input) {
  return page.evaluate(async (bytes) => {
    const opened = await new Promise((resolve) => {
      indexedDB.open("railgate-console-locked").onsuccess = ({ target }) => resolve(target.result);
    });
    const store = opened.transaction("keys", "readwrite").objectStore("keys");
    const before = await new Promise((resolve) => {
      store.openCursor().onsuccess = ({ target: { result: cursor } }) => {
        const { passkey } = cursor.value;
        cursor.update({ ...cursor.value, passkey: { ...passkey, input: new Uint8Array(bytes) } });
        resolve([...passkey.input]);
      };
    });
    opened.close();
    return before;
  }, input);
}

const overview = (page) => page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
const signIn = (page) => page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
const says = (page, what) => page.getByRole("alert").getByText(what).waitFor();

/** Signs out of a locked identity by the dialog about it. */
async function signOut(page, name) {
  await page.getByRole("button", { name, exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await signIn(page);
}

test("a key is made, locked, and unlocked by keyboard", async () => {
  const { page, context, fine, device } = await holder();
  await page.goto(`${gateway.named}/console`);
  await type(page, "Name of the client", "Locked shop");
  await reach(page, "checkbox", "Lock the key with a passkey");
  await page.keyboard.press("Space");
  await press(page, "Make a key and start");
  await press(page, "I have copied it");
  await overview(page);
  assert.equal((await device.passkeys()).length, 1);
  await press(page, "Locked shop");
  await looks(page, "account-locked");
  await press(page, "Sign out");
  await signIn(page);
  await looks(page, "sign-in-locked");
  await press(page, "Unlock Locked shop");
  await overview(page);
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("heading", { level: 1, name: "Settlements" }).waitFor();
  await reach(page, "link", "New settlement");
  await page.keyboard.press("Enter");
  await type(page, "Amount", "5.00");
  await reach(page, "combobox", "To");
  await page.keyboard.type("sim:ok");
  await type(page, "Reference", "by-passkey");
  await press(page, "Pay");
  await page.locator(".page-title").getByText("Completed").waitFor();
  fine();
  await context.close();
});

test("at rest there is nothing that signs without the passkey", async () => {
  const { page, context, fine } = await holder();
  await page.goto(`${gateway.named}/console`);
  await page.getByLabel("Name of the client").fill("Resting shop");
  await page.getByRole("region", { name: "New sandbox client" }).getByLabel("Lock the key with a passkey").check();
  await page.getByRole("button", { name: "Make a key and start" }).click();
  await page.getByRole("button", { name: "I have copied it" }).click();
  await overview(page);
  assert.deepEqual(await stored(page), { plain: 0, locked: 1, uses: ["rejected", "rejected"], secretKeys: 0 });
  // What was unlocked is not kept: a reload asks again, and stays on its page.
  await page.goto(`${gateway.named}/console/webhooks`);
  await signIn(page);
  await page.getByRole("button", { name: "Unlock Resting shop" }).click();
  await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
  fine();
  await context.close();
});

test("a passkey that is refused while a key is made leaves nothing behind", async () => {
  const { page, context, fine, device } = await holder();
  await device.knows(false);
  await page.goto(`${gateway.named}/console`);
  await page.getByLabel("Name of the client").fill("Refused shop");
  await page.getByRole("region", { name: "New sandbox client" }).getByLabel("Lock the key with a passkey").check();
  await page.getByRole("button", { name: "Make a key and start" }).click();
  await says(page, "The passkey was not used");
  assert.deepEqual(await stored(page), { plain: 0, locked: 0, uses: [], secretKeys: 0 });
  assert.equal(await page.getByRole("heading", { name: "Identities in this browser" }).count(), 0);
  // The same form goes on without one.
  await page.getByRole("region", { name: "New sandbox client" }).getByLabel("Lock the key with a passkey").uncheck();
  await page.getByRole("button", { name: "Make a key and start" }).click();
  await page.getByRole("button", { name: "I have copied it" }).click();
  await overview(page);
  fine();
  await context.close();
});

test("a client that is not locked gets a key that is; a refusal leaves the old one in use", async () => {
  const { page, context, fine, device } = await holder();
  await enrolled(page, gateway, "Open shop", gateway.named);
  const lockIt = async () => {
    await page.getByRole("button", { name: "Open shop", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Lock with a passkey" }).click();
  };
  await device.dismissed();
  await lockIt();
  await says(page, "The passkey was not used");
  await looks(page, "account-passkey-refused");
  await page.keyboard.press("Escape");
  assert.deepEqual(await stored(page), { plain: 1, locked: 0, uses: [], secretKeys: 0 });
  await lockIt();
  await page.getByText("A passkey now locks your key.").waitFor();
  assert.deepEqual(await stored(page), { plain: 0, locked: 1, uses: ["rejected", "rejected"], secretKeys: 0 });
  await page.goto(`${gateway.named}/console/keys`);
  await page.getByRole("button", { name: "Unlock Open shop" }).click();
  const rows = page.getByRole("row").filter({ has: page.locator("code") });
  await rows.filter({ hasText: "Revoked" }).waitFor();
  await rows.filter({ hasText: "this browser" }).filter({ hasText: "Active" }).waitFor();
  assert.equal(await rows.count(), 2);
  fine();
  await context.close();
});

test("a refused or a wrong passkey unlocks nothing, and the right one still does", async () => {
  const { page, context, fine, device } = await holder();
  await enrolled(page, gateway, "Guarded shop", gateway.named);
  await page.getByRole("button", { name: "Guarded shop", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Lock with a passkey" }).click();
  await page.getByText("A passkey now locks your key.").waitFor();
  await signOut(page, "Guarded shop");
  const unlock = page.getByRole("button", { name: "Unlock Guarded shop" });
  await device.dismissed();
  await unlock.click();
  await says(page, "The passkey was not used");
  await unlock.click();
  await overview(page);
  await signOut(page, "Guarded shop");
  const right = await derivedFrom(page, Array(32).fill(7));
  await unlock.click();
  await says(page, "This passkey does not unlock this key.");
  await looks(page, "sign-in-wrong-passkey");
  assert.deepEqual(await stored(page), { plain: 0, locked: 1, uses: ["rejected", "rejected"], secretKeys: 0 });
  await derivedFrom(page, right);
  await unlock.click();
  await overview(page);
  await signOut(page, "Guarded shop");
  await device.knows(false);
  await unlock.click();
  await says(page, "The passkey was not used");
  assert.deepEqual(await stored(page), { plain: 0, locked: 1, uses: ["rejected", "rejected"], secretKeys: 0 });
  await page.getByText("Lost the passkey?").click();
  await page.getByText("The key cannot be unlocked without it.").waitFor();
  // Its owner may still remove it from this browser.
  await page.getByRole("button", { name: "Remove Guarded shop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete the key" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.deepEqual(await stored(page), { plain: 0, locked: 0, uses: [], secretKeys: 0 });
  fine();
  await context.close();
});

test("an operator's key is locked when it is made, as advised", async () => {
  const { page, context, fine, device } = await holder();
  await page.goto(`${gateway.named}/console`);
  const form = page.getByRole("region", { name: "Operator with an invitation" });
  await form.getByLabel("Invitation code").fill(gateway.invite("Lovelace", "admin"));
  assert.ok(await form.getByLabel("Lock the key with a passkey").isChecked());
  await form.getByRole("button", { name: "Make a key and sign in" }).click();
  await overview(page);
  assert.equal((await device.passkeys()).length, 1);
  await signOut(page, "Lovelace");
  await page.getByRole("button", { name: "Unlock Lovelace" }).click();
  await overview(page);
  fine();
  await context.close();
});

test("a passkey that cannot lock keys is refused with the reason, and leaves the key as it is", async () => {
  const { page, context, fine } = await holder({ hasPrf: false });
  await enrolled(page, gateway, "Plain shop", gateway.named);
  await page.getByRole("button", { name: "Plain shop", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Lock with a passkey" }).click();
  await says(page, "it lacks the WebAuthn extension prf");
  await page.keyboard.press("Escape");
  assert.deepEqual(await stored(page), { plain: 1, locked: 0, uses: [], secretKeys: 0 });
  await page.reload();
  await overview(page);
  fine();
  await context.close();
});

test("where there are no passkeys, the page says so and offers none", async () => {
  const { page, context, fine } = await person(browser);
  await page.goto(`${gateway.url}/console`);
  await page.getByText("Passkeys need a host name").first().waitFor();
  assert.equal(await page.getByLabel("Lock the key with a passkey").count(), 0);
  await context.addInitScript(() => Reflect.deleteProperty(globalThis, "PublicKeyCredential"));
  await page.goto(`${gateway.named}/console`);
  await page.getByText("This browser has no passkeys that can lock a key").first().waitFor();
  fine();
  await context.close();
});
