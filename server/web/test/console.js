// People who use the console: a browser context each, with what every spec checks on every page.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { Browser, freshProfile } from "../../../bindings-wasm/npm/test/browser/chromium.js";
import { Gateway } from "./gateway.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../../target", import.meta.url));
const shots = join(target, "console-screenshots");

/** What every page is looked at in. */
const FORMS = [
  { name: "wide-light", viewport: { width: 1360, height: 860 }, colorScheme: "light" },
  { name: "wide-dark", viewport: { width: 1360, height: 860 }, colorScheme: "dark" },
  { name: "phone-light", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { name: "phone-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
];

/** What they are looked at in here: how they look does not depend on the store, so one run of several looks at all. */
const looked = process.env.RAILGATE_TEST_FORMS === "first" ? FORMS.slice(0, 1) : FORMS;

/** Rules of axe that a reader would notice. */
const RULES = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };

/** A gateway and a browser for the specs of a file; both end with it. */
export async function stage(...more) {
  const gateway = await Gateway.start(more);
  const profile = await freshProfile();
  const browser = await Browser.start(profile.folder);
  after(async () => {
    await browser.kill();
    await gateway.close();
    await profile.remove();
  });
  return { gateway, browser };
}

/** Somebody with a browser of their own; faults of their pages fail the spec that says so with `fine`. */
export async function person(browser, options = {}) {
  const context = await browser.person({ viewport: FORMS[0].viewport, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    // A refused call and a lost connection are shown by the page itself.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) faults.push(message.text());
  });
  return { page, context, fine: () => assert.deepEqual(faults, []) };
}

/** Makes a new sandbox client by the page for signing in. */
export async function enrolled(page, gateway, name = "Corner shop", address = gateway.url) {
  await page.goto(`${address}/console`);
  await page.getByLabel("Name of the client").fill(name);
  await page.getByRole("button", { name: "Make a key and start" }).click();
  await page.getByRole("dialog", { name: "Webhook secret" }).getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
}

/** Makes a payment by the form for it, and waits for its page. */
export async function pay(page, { amount, currency, to, reference, description }) {
  await page.goto(new URL("/console/settlements/new", page.url()).href);
  await page.getByLabel("Amount").fill(amount);
  await page.getByLabel("Currency").selectOption(currency);
  await page.getByLabel("To", { exact: true }).fill(to);
  await page.getByLabel("Reference").fill(reference);
  if (description !== undefined) await page.getByLabel("Description").fill(description);
  await page.getByRole("button", { name: "Pay" }).click();
  await page.getByRole("heading", { level: 1, name: reference }).waitFor();
}

/** What axe finds serious. */
async function serious(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate((rules) => globalThis.axe.run(document, rules), RULES);
  const found = violations.filter(({ impact }) => impact === "serious" || impact === "critical" || impact === "moderate");
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(" | ")}`);
}

/** Looks at a page in all forms: axe finds nothing, nothing is wider than the screen, and a picture is kept for people. */
export async function looks(page, name) {
  mkdirSync(shots, { recursive: true });
  for (const form of looked) {
    await page.setViewportSize(form.viewport);
    await page.emulateMedia({ colorScheme: form.colorScheme });
    assert.deepEqual(await serious(page), [], `${name} in ${form.name}`);
    const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= seen, `${name} in ${form.name} is ${wide} wide of ${seen}`);
    // As tall as the page, so that what is fixed to the screen is where a reader sees it.
    const tall = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width: form.viewport.width, height: Math.max(tall, form.viewport.height) });
    await page.screenshot({ path: join(shots, `${name}-${form.name}.png`) });
  }
  await page.setViewportSize(FORMS[0].viewport);
  await page.emulateMedia({ colorScheme: "light" });
}
