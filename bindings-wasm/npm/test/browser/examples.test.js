// The examples' pages, built and served by Vite from the installed package; takes screenshots for people to look at.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as vite from "vite";
import { project } from "../installed.js";
import { baseUrl, enrolled } from "../live/server.js";
import { Browser, freshProfile, serve } from "./chromium.js";

const PICTURES = fileURLToPath(new URL("../../build/pictures", import.meta.url));

let installed, site, profile, browser;
before(async () => {
  installed = project();
  const routes = {};
  for (const name of ["payment-form", "receipt-checker"]) {
    const root = join(installed.folder, "examples", name);
    await vite.build({ root, base: "./", configFile: false, logLevel: "silent" });
    routes[`/${name}/`] = join(root, "dist");
  }
  site = await serve(routes, Number(process.env.RAILGATE_TEST_PAGES));
  profile = await freshProfile();
  browser = await Browser.start(profile.folder);
  await mkdir(PICTURES, { recursive: true });
});
after(async () => {
  await browser?.kill();
  await site?.close();
  await profile?.remove();
  installed?.remove();
});

async function tab(t, url) {
  const page = await browser.tab(url);
  t.after(async () => {
    assert.deepEqual(page.faults, []);
    await page.close();
  });
  return page;
}

const picture = (page, name) => page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });

/** Fills in the form; returns every message that it shows. */
async function fill(page, values) {
  for (const [name, value] of Object.entries(values)) await page.fill(`[name=${name}]`, value);
  return page.$$eval(".problem", (notes) => notes.map((note) => note.textContent).filter((text) => text !== ""));
}

test("the form tells what is wrong while it is typed, and pays once nothing is", async (t) => {
  const page = await tab(t, `${site.url}/payment-form/index.html?server=${encodeURIComponent(baseUrl)}`);
  // The script is ready.
  await page.waitForSelector("[name=amount][aria-invalid]");
  assert.equal(await page.isDisabled("button"), true);
  assert.deepEqual(await fill(page, {}), []);
  const wrong = await fill(page, { amount: "1e3", currency: "eur", to: "iban:DE00123", reference: "invoice 1" });
  assert.equal(wrong.length, 4, wrong.join("\n"));
  assert.match(wrong[0], /Write the amount out/);
  assert.equal(await page.isDisabled("button"), true);
  await picture(page, "payment-form-wrong");
  assert.deepEqual(await fill(page, { amount: "10.50", currency: "EUR", to: "sim:ok", reference: "inv-1" }), []);
  await page.click("button");
  await page.waitForFunction(() => document.querySelector(".outcome").textContent.includes("completed"));
  assert.equal(await page.textContent(".outcome"), "10.50 EUR to sim:ok: completed");
  await picture(page, "payment-form-paid");
  await fill(page, { amount: "11" });
  await page.click("button");
  await page.waitForSelector(".outcome.bad");
  assert.match(await page.textContent(".outcome"), /reference was used/);
});

test("the form runs under Vite's development server too", async (t) => {
  const root = join(installed.folder, "examples", "payment-form");
  const server = await vite.createServer({ root, configFile: false, logLevel: "silent", server: { host: "127.0.0.1", port: 0 } });
  await server.listen();
  t.after(() => server.close());
  const page = await tab(t, server.resolvedUrls.local[0]);
  await page.waitForSelector("button:disabled");
  await page.waitForFunction(() => {
    const amount = document.querySelector("[name=amount]");
    amount.value = "1e3";
    amount.dispatchEvent(new Event("input", { bubbles: true }));
    return document.querySelector("#amount-problem")?.textContent.includes("Write the amount out");
  });
});

/** A genuine receipt and the keys of its issuer. */
async function receipt(t) {
  const { client } = await enrolled(t);
  await client.create({ amount: "1234.50", currency: "KES", to: "sim:ok", reference: "inv-2026-1" }, { waitS: 30 });
  const { jws } = await client.receipt("inv-2026-1");
  return { jws, jwks: JSON.stringify(await client.jwks()), code: await client.receiptAs("inv-2026-1", "image/svg+xml") };
}

test("the checker finds a pasted receipt genuine, and a changed one not", async (t) => {
  const { jws, jwks } = await receipt(t);
  const page = await tab(t, `${site.url}/receipt-checker/index.html`);
  await page.fill("[name=keys]", jwks);
  await page.fill("[name=receipt]", jws);
  await page.waitForSelector(".verdict.good");
  assert.match(await page.textContent(".verdict"), /1234\.50 KES.*completed.*inv-2026-1/);
  await picture(page, "receipt-genuine");
  const [header, payload, signature] = jws.split(".");
  const forged = Buffer.from(Buffer.from(payload, "base64url").toString().replace("1234.50", "9234.50")).toString("base64url");
  await page.fill("[name=receipt]", [header, forged, signature].join("."));
  await page.waitForSelector(".verdict.bad");
  assert.match(await page.textContent(".verdict"), /Not genuine.*signature does not match/);
  await picture(page, "receipt-forged");
});

test("the checker reads the QR code of a receipt from a picture", async (t) => {
  const { jws, jwks, code } = await receipt(t);
  const page = await tab(t, `${site.url}/receipt-checker/index.html`);
  await page.fill("[name=keys]", jwks);
  // As on a screen or a printer.
  const shown = await tab(t, "about:blank");
  await shown.setViewportSize({ width: 900, height: 900 });
  await shown.setContent(`<body style="margin:20px"><div style="width:800px">${code}</div></body>`);
  const photo = join(installed.folder, "code.png");
  await writeFile(photo, await shown.screenshot());
  await page.setInputFiles("[name=picture]", photo);
  await page.waitForSelector(".verdict.good");
  assert.equal(await page.inputValue("[name=receipt]"), jws);
  await writeFile(photo, await page.screenshot());
  await page.setInputFiles("[name=picture]", photo);
  await page.waitForFunction(() => document.querySelector(".verdict").textContent.includes("No QR code found"));
});
