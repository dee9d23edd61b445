// A client who has no pointer: signs in, pays, reverses a part, verifies the receipt and signs out by keys alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { person, stage } from "./console.js";
import { press, reach, type } from "./keys.js";

const { gateway, browser } = await stage();

test("everything that a client does can be done by keyboard", async () => {
  const { page, context, fine } = await person(browser);
  await page.goto(`${gateway.url}/console`);
  await type(page, "Name of the client", "Keys only");
  await page.keyboard.press("Enter");
  await press(page, "I have copied it");
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("heading", { level: 1, name: "Settlements" }).waitFor();
  await reach(page, "link", "New settlement");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "New settlement" }).waitFor();
  await type(page, "Amount", "30.00");
  await reach(page, "combobox", "To");
  await page.keyboard.type("sim:ok");
  await type(page, "Reference", "by-keys");
  await press(page, "Pay");
  await page.locator(".page-title").getByText("Completed").waitFor();
  await press(page, "Reverse");
  await page.getByRole("dialog", { name: "Reverse this settlement?" }).waitFor();
  await type(page, "Amount to reverse", "10.00");
  await page.keyboard.press("Enter");
  await page.locator(".page-title").getByText("Partly reversed").waitFor();
  await press(page, "Verify");
  await page.getByText("Genuine: the gateway signed exactly this receipt.").waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("check now");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("The record, the ledger, the trace and the rail agree.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.getByRole("heading", { level: 1, name: "Simulator" }).waitFor();
  await press(page, "Keys only");
  await press(page, "Sign out");
  await press(page, "Delete the key and sign out");
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  fine();
  await context.close();
});

test("a dialog keeps the focus, and gives it back", async () => {
  const { page, context, fine } = await person(browser);
  await page.goto(`${gateway.url}/console`);
  await type(page, "Name of the client", "Focused shop");
  await page.keyboard.press("Enter");
  await press(page, "I have copied it");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const opener = await reach(page, "button", "Focused shop");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Identities" }).waitFor();
  for (let n = 0; n < 12; n += 1) {
    await page.keyboard.press("Tab");
    const within = await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest("dialog") !== null);
    assert.ok(within, "the focus left the dialog");
  }
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.ok(await opener.evaluate((element) => element === document.activeElement));
  fine();
  await context.close();
});
