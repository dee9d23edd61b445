// The example examples/sandbox as a person uses it: by labels and names, in light and dark mode, in two tabs.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Browser, freshProfile, serve } from "./chromium.js";
import { bundle, ended } from "./site.js";

const FOLDER = fileURLToPath(new URL("../../examples/sandbox/", import.meta.url));
/** The folder for screenshots, for people to look at; none are taken by default. */
const PICTURES = process.env.RAILGATE_SCREENSHOTS;

let site, profile, browser;
before(async () => {
  site = await serve({ "/": FOLDER, "/main.js": { type: "text/javascript", body: await bundle(join(FOLDER, "main.js")) } });
  profile = await freshProfile();
  browser = await Browser.start(profile.folder);
});
after(async () => {
  await browser?.kill();
  await site?.close();
  await profile?.remove();
});

async function picture(page, name) {
  if (PICTURES === undefined) return;
  await page.bringToFront();
  await page.screenshot({ path: join(PICTURES, `sandbox-${name}.png`), fullPage: true });
}

async function pay(page, to, amount = "24.90") {
  await page.getByLabel("To", { exact: true }).fill(to);
  await page.getByLabel("Amount").fill(amount);
  await page.getByRole("button", { name: "Pay", exact: true }).click();
}

async function show() {
  const page = await browser.tab(site.url);
  await page.setViewportSize({ width: 1280, height: 860 });
  // The last action of its script before it is ready.
  await page.locator("#payments > *").first().waitFor();
  return page;
}

const status = (page, name) => page.locator("#detail .headline .pill", { hasText: new RegExp(`^${name}$`) });
const events = (page) => page.locator(".events .said").allTextContents();

test("a payment that takes its time is drawn until it is completed, reversed and receipted; a second tab follows", async () => {
  const page = await show();
  await page.getByText("None yet.").waitFor();
  await picture(page, "empty");
  // This one does not change while it is checked.
  await pay(page, "sim:pending");
  await status(page, "submitted").waitFor();
  await picture(page, "submitted");
  const second = await browser.tab(page.url());
  await status(second, "submitted").waitFor();
  assert.match(await second.locator("#role").textContent(), /follows/);

  await pay(page, "sim:slow-30s");
  for (const tab of [page, second]) {
    await tab.getByRole("button", { name: "sim:slow-30s" }).click();
    await tab.locator("#detail .headline", { hasText: "sim:slow-30s" }).waitFor();
  }
  await page.getByRole("button", { name: "+30 s" }).click();
  await status(second, "completed").waitFor();
  await status(page, "completed").waitFor();
  await page.getByRole("button", { name: "Give 1.00 back" }).click();
  await status(page, "partially reversed").waitFor();
  await status(second, "partially reversed").waitFor();
  assert.deepEqual(await events(page), [
    "Accepted; the money is on hold",
    "Handed to a provider",
    "Attempt 1: sent to simulator",
    "Answer to attempt 1: accepted",
    "Answer to attempt 1: completed",
    "Completed",
    "Reversal accepted: 1.00",
    "Reversal handed to the provider",
    "Reversal completed",
    "Given back in part",
  ]);
  assert.deepEqual(await events(second), await events(page));
  await picture(page, "reversed");
  await page.getByRole("button", { name: "Receipt" }).click();
  await page.frameLocator("#receipt iframe").getByText("no money was moved").waitFor();
  await picture(page, "receipt");
  await page.getByRole("button", { name: "Close" }).click();
  await ended(page, second);
});

test("wrong fields are told at each field while they are filled in, and again when they are sent", async () => {
  const page = await show();
  await page.getByLabel("Amount").fill("1.005");
  await page.locator("#amount-help").getByText("decimal").waitFor();
  assert.equal(await page.getByLabel("Amount").getAttribute("aria-invalid"), "true");
  await page.getByLabel("To", { exact: true }).fill("nowhere");
  await page.locator("#to-help").getByText(/./).waitFor();
  await page.getByRole("button", { name: "Pay", exact: true }).click();
  await page.waitForFunction(() => document.activeElement.id === "to");
  await picture(page, "wrong");
  await page.getByLabel("To", { exact: true }).fill("sim:close-match");
  await page.getByLabel("Amount").fill("1.00");
  await page.locator("#quote").getByText("nearly").waitFor();
  assert.equal(await page.getByLabel("Amount").getAttribute("aria-invalid"), "false");
  await ended(page);
});

test("fail-over and return are branches of the picture; it is fit for narrow and dark screens", async () => {
  const page = await show();
  for (const [to, end] of [
    ["sim:decline-account_closed", "failed"],
    ["sim:pending", "submitted"],
    ["sim:returned-after-1d", "completed"],
    ["sim:failover", "completed"],
  ]) {
    await pay(page, to, "120");
    await page.locator("#detail .headline", { hasText: to }).waitFor();
    await status(page, end).waitFor();
  }
  const branches = await page
    .locator(".rails path")
    .evaluateAll((paths) => paths.filter((path) => path.getAttribute("d").includes("C")).length);
  assert.equal(branches, 2);
  await picture(page, "failover");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "dark");
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), true);
  await picture(page, "narrow");
  await ended(page);
});

test("with nothing there yet, one button shows what there is to see", async () => {
  const page = await browser.tab(site.url.replace("localhost", "127.0.0.1"));
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.getByRole("button", { name: "Pay 5 of them" }).click();
  await page.locator("#detail .headline", { hasText: "sim:failover" }).waitFor();
  await page.locator("#payments li").nth(4).waitFor();
  const shown = await page.locator("#payments .pill").allTextContents();
  // Five seconds later the inquiry finds the lost answer.
  assert.match(shown.join(" "), /^completed (unknown|completed) (submitted|completed) failed completed$/);
  await picture(page, "shown");
  await ended(page);
});
