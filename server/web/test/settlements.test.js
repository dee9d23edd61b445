// A client pays, watches, reverses and verifies.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { enrolled, looks, pay, person, stage } from "./console.js";

const { gateway, browser } = await stage();

/** Text that would run if it were taken for markup, in the fields that a client chooses. */
const HOSTILE = `<img src=x onerror="globalThis.harmed=1"><script>globalThis.harmed=1</script>'"&`;

test("a payment is checked, made, and completes without a reload", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway);
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("heading", { level: 1, name: "Settlements" }).waitFor();
  await looks(page, "settlements-empty");
  await page.getByRole("link", { name: "New settlement" }).first().click();
  await page.getByLabel("Amount").fill("25.50");
  await page.getByLabel("Currency").selectOption("EUR");
  await page.getByLabel("To", { exact: true }).fill("sim:pending");
  await page.getByLabel("Reference").fill("first");
  await page.getByRole("button", { name: "Check first" }).click();
  await page.getByText("It would be accepted").waitFor();
  await looks(page, "settlement-new");
  await page.getByRole("button", { name: "Pay" }).click();
  await page.getByRole("heading", { level: 1, name: "first" }).waitFor();
  await page.locator(".page-title").getByText("Submitted").waitFor();
  await looks(page, "settlement-open");
  // Decided outside of this page: the page follows.
  await page.getByLabel("Outcome").selectOption("completed");
  await page.getByRole("button", { name: "Decide" }).click();
  await page.locator(".page-title").getByText("Completed").waitFor();
  await page.getByText("Paid", { exact: true }).waitFor();
  fine();
  await context.close();
});

test("a mistake is shown beside its field, all at once", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Careless shop");
  await page.goto(`${gateway.url}/console/settlements/new`);
  await page.getByLabel("Amount").fill("1.234");
  await page.getByLabel("Currency").selectOption("EUR");
  await page.getByLabel("To", { exact: true }).fill("nobody");
  await page.getByRole("button", { name: "Pay" }).click();
  await page.getByRole("alert").waitFor();
  for (const name of ["Amount", "To"]) {
    const field = page.getByRole("textbox", { name, exact: true }).or(page.getByRole("combobox", { name, exact: true }));
    assert.equal(await field.getAttribute("aria-invalid"), "true", name);
  }
  await looks(page, "settlement-new-wrong");
  fine();
  await context.close();
});

test("a part is reversed, after a dialog that says what happens; the receipt is verified here", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Reversing shop");
  await pay(page, { amount: "40", currency: "EUR", to: "sim:ok", reference: "to-reverse" });
  await page.locator(".page-title").getByText("Completed").waitFor();
  await page.getByRole("button", { name: "Reverse" }).click();
  const dialog = page.getByRole("dialog", { name: "Reverse this settlement?" });
  await dialog.getByLabel("Amount to reverse").fill("15.00");
  await dialog.getByText("You alone").waitFor();
  await looks(page, "settlement-reverse");
  await dialog.getByRole("button", { name: /^Reverse EUR.15\.00$/ }).click();
  await page.locator(".page-title").getByText("Partly reversed").waitFor();
  await page.getByRole("table", { name: "Reversals" }).getByText("Completed").waitFor();
  await page.getByRole("button", { name: "Verify", exact: true }).click();
  await page.getByText("Genuine: the gateway signed exactly this receipt.").waitFor();
  await page.getByRole("img", { name: "QR code of the receipt" }).waitFor();
  await page.getByRole("button", { name: /^Download the proof/ }).waitFor();
  await page.getByRole("button", { name: "Check now" }).click();
  await page.getByRole("dialog").getByText("The record, the ledger, the trace and the rail agree.").waitFor();
  await page.keyboard.press("Escape");
  await looks(page, "settlement-reversed");
  for (const [name, pattern] of [
    ["JSON", /"jws"/],
    ["JWS", /^[\w-]+\.[\w-]+\.[\w-]+$/],
    ["PDF", /^%PDF/],
    ["Page to print", /<!doctype html/i],
    ["Text", /to-reverse/],
    ["QR code", /^<svg/],
  ]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
    assert.match((await readFile(await download.path(), "latin1")).trim(), pattern, name);
  }
  fine();
  await context.close();
});

test("the proof in the log is verified here, and a history that was changed on its way is not taken for it", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Proving shop");
  await pay(page, { amount: "12.00", currency: "EUR", to: "sim:ok", reference: "proven" });
  await page.locator(".page-title").getByText("Completed").waitFor();
  const section = page.getByRole("region", { name: "Proof in the log" });
  const verify = section.getByRole("button", { name: "Verify the proof" });
  await verify.click();
  await section.getByText("Proven: the log has this history").waitFor();
  await section.getByText("The history of 5 events is unbroken").waitFor();
  await section.getByText("The log signed this tree with its key").waitFor();
  await looks(page, "settlement-proven");
  // Somebody between the gateway and the browser, or the gateway itself, tells another story.
  const changed = (address, change) =>
    page.route(address, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: change(await response.text()) });
    });
  await changed(/settlements\/[^/]+\/events/, (body) => body.replace('"sequence":2', '"sequence":2,"said":"otherwise"'));
  await page.reload();
  await verify.click();
  await section.getByText("Not proven.").waitFor();
  await section.getByText("Event 2 of the history does not fit those before it.").waitFor();
  await looks(page, "settlement-not-proven");
  await page.unrouteAll();
  await changed(/receipt\/proof/, (body) => {
    const answer = JSON.parse(body);
    const elsewhere = Number(answer.leaf_index) === 0 ? 1 : Number(answer.leaf_index) - 1;
    return JSON.stringify({ ...answer, proof: answer.proof.replace(/index \d+/, `index ${elsewhere}`) });
  });
  await page.reload();
  await verify.click();
  await section.getByText("The proof is refused: the event is not in the log at this place.").waitFor();
  fine();
  await context.close();
});

test("texts of others stay texts", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, HOSTILE.slice(0, 60));
  await pay(page, { amount: "1", currency: "EUR", to: "sim:ok", reference: "hostile", description: HOSTILE });
  await page.getByText(HOSTILE, { exact: true }).waitFor();
  await page.goto(`${gateway.url}/console/settlements?reference=${encodeURIComponent(HOSTILE)}&to=${encodeURIComponent(HOSTILE)}`);
  await page.getByRole("alert").or(page.getByText("Nothing matches these filters")).first().waitFor();
  await page.goto(`${gateway.url}/console/settlements/${encodeURIComponent(HOSTILE)}`);
  await page.getByRole("alert").waitFor();
  assert.equal(await page.evaluate(() => globalThis.harmed), undefined);
  fine();
  await context.close();
});

test("a list is filtered, shared by its address, walked by keyboard, saved and exported", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Listing shop");
  await page.evaluate(() => undefined);
  for (const [to, reference] of [
    ["sim:ok", "list-1"],
    ["sim:ok", "list-2"],
    ["sim:decline-account_closed", "list-3"],
  ]) {
    await pay(page, { amount: "3", currency: "EUR", to, reference });
  }
  await page.locator(".page-title").getByText("Failed").waitFor();
  await page.goto(`${gateway.url}/console/settlements`);
  await page.getByRole("link", { name: "list-3" }).waitFor();
  await looks(page, "settlements");
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByLabel("Failed").check();
  await looks(page, "settlements-filters");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("link", { name: "list-1" }).waitFor({ state: "detached" });
  assert.match(page.url(), /status=failed/);
  await page.reload();
  await page.getByRole("link", { name: "list-3" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "list-1" }).count(), 0);
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByLabel("Name of the view").fill("What failed");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.goto(`${gateway.url}/console/settlements`);
  await page.getByRole("link", { name: "list-2" }).focus();
  await page.keyboard.press("j");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "list-1");
  await page.keyboard.press("ArrowUp");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "list-2");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "list-2" }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "What failed" }).click();
  await page.getByRole("link", { name: "list-2" }).waitFor({ state: "detached" });
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export as CSV" }).click()]);
  const table = await readFile(await download.path(), "utf8");
  assert.match(table, /list-3/);
  assert.doesNotMatch(table, /list-1/);
  await page.goto(`${gateway.url}/console/settlements?limit=2`);
  await page.getByRole("link", { name: "list-3" }).focus();
  await page.keyboard.press("n");
  await page.getByRole("link", { name: "list-1" }).waitFor();
  assert.match(page.url(), /cursor=/);
  assert.equal(await page.getByRole("link", { name: "list-3" }).count(), 0);
  await page.getByRole("link", { name: "list-1" }).focus();
  await page.keyboard.press("p");
  await page.getByRole("link", { name: "list-3" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("list-2");
  await page.getByRole("button", { name: /^Filters/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/reference=list-2/);
  await page.getByRole("link", { name: "list-3" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "list-2" }).waitFor();
  fine();
  await context.close();
});

test("the server goes and comes back: the page says so, and catches up", async () => {
  const { page, context } = await person(browser);
  await enrolled(page, gateway, "Patient shop");
  await pay(page, { amount: "2", currency: "EUR", to: "sim:pending", reference: "patience" });
  await page.locator(".page-title").getByText("Submitted").waitFor();
  await gateway.stop();
  await page.getByText("Connection lost").waitFor();
  await looks(page, "connection-lost");
  await gateway.resume();
  await page.getByText("Connected again").waitFor();
  await page.getByLabel("Outcome").selectOption("completed");
  await page.getByRole("button", { name: "Decide" }).click();
  await page.locator(".page-title").getByText("Completed").waitFor();
  await context.close();
});

test("a payment that comes back after a part was reversed is credited with the rest", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Bouncing shop");
  await pay(page, { amount: "40", currency: "EUR", to: "sim:returned-after-1d", reference: "bounced" });
  await page.locator(".page-title").getByText("Completed").waitFor();
  await page.getByRole("button", { name: "Reverse" }).click();
  const dialog = page.getByRole("dialog", { name: "Reverse this settlement?" });
  await dialog.getByLabel("Amount to reverse").fill("15.00");
  await dialog.getByRole("button", { name: /^Reverse EUR/ }).click();
  await page.getByRole("table", { name: "Reversals" }).getByText("Completed").waitFor();
  const here = page.url();
  await page.goto(`${gateway.url}/console/simulator`);
  await page.getByLabel("Put it ahead by").fill("30");
  await page.getByRole("button", { name: "Put ahead" }).click();
  await page.getByText("Everything that was due on the way was done").waitFor();
  await page.goto(here);
  await page.locator(".timeline").getByText(/^EUR.25\.00 credited back$/).waitFor();
  fine();
  await context.close();
});

test("a cancellation that comes too late is said to be a reversal", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Late shop");
  const cancel = { reversal: { id: "rev_1", status: "started" }, settlement: {} };
  await page.goto(`${gateway.url}/console/users`);
  await page.getByRole("button", { name: "New code for a device" }).click();
  await page.getByLabel("User", { exact: true }).fill("ada");
  await page.getByRole("button", { name: "Make a code" }).click();
  await page.getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("link", { name: "ada" }).click();
  await page.getByLabel("Currency").fill("EUR");
  await page.getByLabel("Approval over").fill("1");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The limits are in force").waitFor();
  await page.goto(`${gateway.url}/console/settlements/new`);
  await page.getByLabel("Amount").fill("20");
  await page.getByLabel("Currency").selectOption("EUR");
  await page.getByLabel("To", { exact: true }).fill("sim:ok");
  await page.getByLabel("Reference").fill("late");
  await page.getByLabel("End user").fill("ada");
  await page.getByRole("button", { name: "Pay" }).click();
  await page.getByRole("heading", { level: 1, name: "late" }).waitFor();
  // The answer of a gateway that had completed the payment meanwhile.
  await page.route("**/reverse", async (route) => {
    const answer = await route.fetch();
    const { settlement } = await answer.json();
    await route.fulfill({ response: answer, json: { ...cancel, settlement } });
  });
  await page.getByRole("button", { name: "Cancel the payment" }).click();
  await page.getByRole("dialog", { name: "Cancel this settlement?" }).getByRole("button", { name: "Cancel the payment" }).click();
  await page.getByRole("status").getByText("The reversal is on its way").waitFor();
  fine();
  await context.close();
});

test("an address that cannot be read is a page that does not exist", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Mistyping shop");
  await page.goto(`${gateway.url}/console/users/%`);
  await page.getByText("There is no such page").waitFor();
  fine();
  await context.close();
});
