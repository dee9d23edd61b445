// Answers that get lost: what was done is not done again, and a key that was enrolled stays.
import assert from "node:assert/strict";
import { test } from "node:test";
import { enrolled, looks, pay, person, stage } from "./console.js";
import { operator, shop } from "./operator.js";

const { gateway, browser } = await stage();

/** From now on, calls with this address get no answer. The first one is carried out all the same. Returns what ends that. */
async function silenced(page, address) {
  const carried = [];
  const silence = async (route) => {
    if (route.request().method() === "GET") return route.fallback();
    if (carried.length === 0) carried.push(await route.fetch());
    return route.abort();
  };
  await page.route(address, silence);
  return async () => {
    assert.equal(carried.length, 1, "nothing was carried out");
    await page.unroute(address, silence);
  };
}

const MAYBE = "It may have done this all the same.";

test("a part is reversed once, although its answer got lost and somebody presses again", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Doubting shop");
  await pay(page, { amount: "40", currency: "EUR", to: "sim:ok", reference: "doubted" });
  await page.locator(".page-title").getByText("Completed").waitFor();
  await page.getByRole("button", { name: "Reverse" }).click();
  const dialog = page.getByRole("dialog", { name: "Reverse this settlement?" });
  await dialog.getByLabel("Amount to reverse").fill("15.00");
  const act = dialog.getByRole("button", { name: /^Reverse EUR/ });
  const heard = await silenced(page, "**/reverse");
  await act.click();
  await dialog.getByRole("alert").getByText(MAYBE).waitFor();
  await dialog.getByText("Press the same button here again").waitFor();
  await looks(page, "settlement-reverse-doubt");
  await heard();
  // Something else is no repeat of it: that is said, and nothing is done.
  await dialog.getByLabel("Amount to reverse").fill("16.00");
  await act.click();
  await dialog.getByRole("link", { name: "idempotency_key_reused" }).waitFor();
  await dialog.getByLabel("Amount to reverse").fill("15.00");
  await act.click();
  await dialog.waitFor({ state: "detached" });
  const reversals = page.getByRole("table", { name: "Reversals" });
  await reversals.getByText("Completed").waitFor();
  assert.equal(await reversals.getByRole("row").count(), 2);
  // A new dialog is a new reversal.
  await page.getByRole("button", { name: "Reverse" }).click();
  await dialog.getByLabel("Amount to reverse").fill("15.00");
  await act.click();
  await reversals.getByRole("row").nth(2).waitFor();
  fine();
  await context.close();
});

test("a payment without an answer is the same payment after a reload", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Reloading shop");
  await page.goto(`${gateway.url}/console/settlements/new`);
  await page.getByLabel("Amount").fill("12.00");
  await page.getByLabel("Currency").selectOption("EUR");
  await page.getByLabel("To", { exact: true }).fill("sim:ok");
  const reference = await page.getByLabel("Reference").inputValue();
  const heard = await silenced(page, "**/gateway/settlements");
  await page.getByRole("button", { name: "Pay" }).click();
  await page.getByRole("alert").getByText(MAYBE).waitFor();
  await heard();
  await page.reload();
  await page.getByText("The gateway did not answer this payment.").waitFor();
  assert.equal(await page.getByLabel("Reference").inputValue(), reference);
  await page.getByRole("button", { name: "Pay" }).click();
  await page.getByRole("heading", { level: 1, name: reference }).waitFor();
  // With an answer, it is over: the next one is another payment.
  await page.goto(`${gateway.url}/console/settlements/new`);
  await page.getByLabel("Amount").waitFor();
  assert.notEqual(await page.getByLabel("Reference").inputValue(), reference);
  await page.goto(`${gateway.url}/console/settlements`);
  await page.getByRole("link", { name: reference }).waitFor();
  assert.equal(await page.getByRole("table").getByRole("row").count(), 2);
  fine();
  await context.close();
});

test("what cannot be read is not said to have been done", async () => {
  const { page, context } = await person(browser);
  await enrolled(page, gateway, "Reading shop");
  await page.route("**/api/v1/balances", (route) => route.abort());
  await page.goto(`${gateway.url}/console/balances`);
  await page.getByRole("alert").getByText("this device is offline").waitFor();
  assert.equal(await page.getByText(MAYBE).count(), 0);
  await context.close();
});

test("a key whose enrolment got no answer stays, and the next try goes on with it", async () => {
  const { page, context, fine } = await person(browser);
  await page.goto(`${gateway.url}/console`);
  await page.getByLabel("Name of the client").fill("Lossy shop");
  let heard = await silenced(page, "**/auth/enrollments");
  await page.getByRole("button", { name: "Make a key and start" }).click();
  await page.getByRole("alert").getByText(MAYBE).waitFor();
  await heard();
  // Also after a reload.
  await page.reload();
  await page.getByLabel("Name of the client").fill("Lossy shop");
  await page.getByRole("button", { name: "Make a key and start" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();

  await page.goto(`${gateway.url}/console/keys`);
  heard = await silenced(page, "**/auth/enrollments");
  await page.getByRole("button", { name: "Make a live key and ask for access" }).click();
  await page.getByRole("alert").getByText(MAYBE).waitFor();
  await heard();
  await page.getByRole("button", { name: "Make a live key and ask for access" }).click();
  await page.getByText("Live access is requested").waitFor();
  await page.getByRole("button", { name: "Lossy shop" }).click();
  await page.getByRole("button", { name: "Use Lossy shop (live)" }).click();
  await page.getByText("Waiting for approval").waitFor();
  await context.close();
});

test("the code of an operator is used once, and is not lost with its answer", async () => {
  const { page, context, fine } = await person(browser);
  await page.goto(`${gateway.url}/console`);
  const form = page.getByRole("region", { name: "Operator with an invitation" });
  const start = form.getByRole("button", { name: "Make a key and sign in" });
  await form.getByLabel("Invitation code").fill("opi_nonsense");
  await start.click();
  await form.getByRole("link", { name: "invitation_invalid" }).waitFor();
  await form.getByLabel("Invitation code").fill(gateway.invite("Lovelace", "admin"));
  const heard = await silenced(page, "**/operator/enrollments");
  await start.click();
  await form.getByRole("alert").getByText(MAYBE).waitFor();
  await heard();
  await start.click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.getByRole("button", { name: "Lovelace" }).waitFor();
  fine();
  await context.close();
});

test("an invitation, a code for a device and a webhook are made once, and what they showed is said to be lost", async () => {
  const ada = await operator(browser, gateway, "Ada", "admin");
  await ada.page.goto(`${gateway.url}/console/operators`);
  await ada.page.getByRole("button", { name: "Invite" }).click();
  const dialog = ada.page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Twice");
  await dialog.getByLabel("Reason").fill("new in the team");
  const heard = await silenced(ada.page, "**/operator/operators");
  await dialog.getByRole("button", { name: "Invite" }).click();
  await dialog.getByRole("alert").getByText(MAYBE).waitFor();
  await heard();
  await dialog.getByRole("button", { name: "Invite" }).click();
  await dialog.getByText("The code was in a response that got lost. Revoke the invitation").waitFor();
  await ada.page.keyboard.press("Escape");
  assert.equal(await ada.page.getByRole("row").filter({ hasText: "Twice" }).count(), 1);

  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Twofold shop");
  await page.goto(`${gateway.url}/console/users`);
  await page.getByRole("button", { name: "New code for a device" }).click();
  await page.getByLabel("User", { exact: true }).fill("ada");
  const coded = await silenced(page, "**/mobile/enrollment-codes");
  await page.getByRole("button", { name: "Make a code" }).click();
  await page.getByRole("alert").getByText(MAYBE).waitFor();
  await coded();
  await page.getByRole("button", { name: "Make a code" }).click();
  await page.getByText("The code was in a response that got lost. Make another one").waitFor();

  await page.goto(`${gateway.url}/console/webhooks`);
  await page.getByRole("button", { name: "New webhook" }).first().click();
  await page.getByLabel("Address").fill("http://127.0.0.1:9/hook");
  const made = await silenced(page, "**/api/v1/webhooks");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("alert").getByText(MAYBE).waitFor();
  await made();
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("dialog", { name: "Webhook secret" }).getByText("“Rotate the secret”").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "http://127.0.0.1:9/hook" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "http://127.0.0.1:9/hook" }).count(), 1);
  fine();
  ada.fine();
  await context.close();
  await ada.context.close();
});

test("an act that a second operator confirms is asked for once", async () => {
  const client = await shop(gateway, "Asked shop");
  const ada = await operator(browser, gateway, "Agnes", "agent");
  await ada.page.goto(`${gateway.url}/console/clients/${client.clientId}`);
  await ada.page.getByRole("button", { name: "Deposit" }).click();
  const dialog = ada.page.getByRole("dialog");
  await dialog.getByLabel("Amount").fill("10.00");
  await dialog.getByLabel("Your reference").fill("wire-1");
  await dialog.getByLabel("Evidence").fill("statement 1, line 1");
  const heard = await silenced(ada.page, "**/deposits");
  await dialog.getByRole("button", { name: "Deposit" }).click();
  await dialog.getByRole("alert").getByText(MAYBE).waitFor();
  await heard();
  await dialog.getByRole("button", { name: "Deposit" }).click();
  await dialog.waitFor({ state: "detached" });
  await ada.page.getByRole("link", { name: "Look at the request" }).first().waitFor();
  assert.equal(await ada.page.getByRole("link", { name: "Look at the request" }).count(), 1);
  ada.fine();
  await ada.context.close();
  await client.close();
});
