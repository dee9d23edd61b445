// What waits for a person, and for a second one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { looks, stage } from "./console.js";
import { operator, shop, stuck } from "./operator.js";

const { gateway, browser } = await stage();

test("a review is resolved by one operator and confirmed by another, in another browser", async () => {
  const client = await shop(gateway, "Corner shop");
  await stuck(client, [
    { reference: "large", amount: "5000.00" },
    { reference: "small", amount: "12.00" },
  ]);
  const ada = await operator(browser, gateway, "Ada", "agent");
  const grace = await operator(browser, gateway, "Grace", "approver");

  // The first page says what waits, and leads to it.
  const needs = ada.page.getByRole("region", { name: "What needs you now" });
  await needs.getByText(/payments? waits? for a person/).waitFor();
  await needs.getByText(/EUR.[\d,]+\.00 of play money/).waitFor();
  await looks(ada.page, "operator-home");
  await needs.getByRole("link", { name: /payments? waits? for a person/ }).click();
  await ada.page.getByRole("heading", { level: 1, name: "Reviews" }).waitFor();
  await looks(ada.page, "operator-reviews");
  await ada.page.getByRole("link", { name: "large" }).click();
  await ada.page.getByRole("heading", { level: 1, name: "Review of large" }).waitFor();
  await ada.page.getByText("Nobody knows the outcome after a day").waitFor();
  await ada.page.getByRole("table", { name: "Attempts" }).getByText("Unknown").waitFor();
  await ada.page.getByRole("table", { name: "Holds and postings" }).getByText("Payment, held").waitFor();
  await ada.page.getByRole("button", { name: "Ask the provider now" }).click();
  await ada.page.getByRole("status").getByText("no usable answer").waitFor();
  await looks(ada.page, "operator-review");

  await ada.page.getByRole("radio", { name: /^It was paid/ }).check();
  await ada.page.getByRole("textbox", { name: "Evidence" }).fill("statement 7, line 12");
  await ada.page.getByRole("button", { name: "Decide…" }).click();
  const sure = ada.page.getByRole("dialog", { name: "It was paid: is that certain?" });
  await sure.getByText("EUR 5,000.00 is posted").waitFor();
  await sure.getByText("A second operator, because the amount is 1,000 or more.").waitFor();
  await looks(ada.page, "operator-review-decide");
  await sure.getByRole("button", { name: "Record the decision" }).click();
  await ada.page.getByText("waits for a second operator. Asked for by Ada (you)").waitFor();
  await ada.page.getByRole("link", { name: "Look at the request" }).click();
  await ada.page.getByText("Approvers confirm requests; your role reads them.").waitFor();

  // The other one finds it on their first page, which is read again by itself.
  const asks = grace.page.getByRole("region", { name: "What needs you now" });
  await asks.getByRole("link", { name: /requests? waits? for a second operator/ }).click();
  await looks(grace.page, "operator-approvals");
  await grace.page.getByRole("row", { name: /Ada/ }).getByRole("link", { name: "Decide about a review" }).click();
  await grace.page.getByText("statement 7, line 12").waitFor();
  await looks(grace.page, "operator-approval");
  await grace.page.getByLabel("Comment").fill("compared with the bank");
  await grace.page.getByRole("button", { name: "Confirm" }).click();
  const confirm = grace.page.getByRole("dialog", { name: "Confirm this request?" });
  await confirm.getByRole("button", { name: "Confirm" }).click();
  await grace.page.locator(".page-title").getByText("Confirmed").waitFor();
  await ada.page.locator(".page-title").getByText("Confirmed").waitFor();
  assert.equal((await client.get("large")).status, "completed");

  // Below the amount, one operator decides alone; evidence is required.
  await ada.page.goto(`${gateway.url}/console/reviews`);
  await ada.page.getByRole("link", { name: "small" }).click();
  await ada.page.getByRole("radio", { name: /^It was not paid/ }).check();
  await ada.page.getByRole("button", { name: "Decide…" }).click();
  assert.equal(await ada.page.getByRole("textbox", { name: "Evidence" }).evaluate((field) => field.validity.valueMissing), true);
  await ada.page.getByRole("textbox", { name: "Evidence" }).fill("letter of 24 November");
  await ada.page.getByRole("button", { name: "Decide…" }).click();
  await ada.page.getByRole("dialog").getByRole("button", { name: "Record the decision" }).click();
  await ada.page.getByText("This does not wait for a person any more").waitFor();
  await ada.page.locator(".timeline").getByText("A person decided").waitFor();
  assert.equal((await client.get("small")).status, "failed");
  ada.fine();
  grace.fine();
  for (const { context } of [ada, grace]) await context.close();
  await client.close();
});

test("whoever asked for something withdraws it, and does not confirm it", async () => {
  const client = await shop(gateway, "Second shop");
  await stuck(client, [{ reference: "mine", amount: "3000.00" }]);
  const { page, context, fine } = await operator(browser, gateway, "Hedy", "approver");
  const { id } = await client.get("mine");
  await page.goto(`${gateway.url}/console/reviews/${id}`);
  await page.getByRole("radio", { name: /^It was paid/ }).check();
  await page.getByRole("textbox", { name: "Evidence" }).fill("statement 8");
  await page.getByRole("button", { name: "Decide…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Record the decision" }).click();
  await page.getByRole("link", { name: "Look at the request" }).click();
  await page.getByText("You asked for this. Somebody else confirms it; you can withdraw it.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Confirm" }).count(), 0);
  await page.getByRole("button", { name: "Withdraw" }).click();
  await page.getByRole("dialog", { name: "Withdraw your request?" }).getByRole("button", { name: "Withdraw" }).click();
  await page.locator(".page-title").getByText("Declined").waitFor();
  assert.equal((await client.get("mine")).status, "unknown");
  fine();
  await context.close();
  await client.close();
});

test("a viewer reads everything and is offered nothing to do", async () => {
  const client = await shop(gateway, "Third shop");
  await stuck(client, [{ reference: "seen", amount: "20.00" }]);
  const { page, context, fine } = await operator(browser, gateway, "Vera", "viewer");
  const { id } = await client.get("seen");
  await page.goto(`${gateway.url}/console/reviews/${id}`);
  await page.getByText("Your role reads reviews. Agents decide about them.").waitFor();
  assert.equal(await page.getByRole("button", { name: /Decide|Ask the provider/ }).count(), 0);
  for (const [path, absent] of [
    [`/clients/${client.clientId}`, /Suspend|Deposit|Change/],
    ["/providers/simulator", /Maintenance|Disable/],
    ["/routes", /Edit the table/],
    ["/operators", /Invite|Revoke/],
  ]) {
    await page.goto(`${gateway.url}/console${path}`);
    await page.locator("main .section").first().waitFor();
    assert.equal(await page.locator("main").getByRole("button", { name: absent }).count(), 0, path);
  }
  fine();
  await context.close();
  await client.close();
});
