// Clients, providers and routes, changed by operators.
import assert from "node:assert/strict";
import { test } from "node:test";
import { looks, stage } from "./console.js";
import { RailgateClient, generateSigner } from "../../../bindings-wasm/npm/dist/client.js";
import { confirmed, live, operator, reasoned, replaced, shop } from "./operator.js";

const { gateway, browser } = await stage();

test("a client gets live access and money by two operators, and terms and a suspension by one", async () => {
  const client = await shop(gateway, "Growing shop");
  const money = await live(gateway, client);
  const ada = await operator(browser, gateway, "Ada", "agent");
  const grace = await operator(browser, gateway, "Grace", "approver");
  await ada.page.getByRole("link", { name: /clients? asks? for live access/ }).click();
  await looks(ada.page, "operator-clients");
  await ada.page.getByRole("link", { name: "Growing shop" }).click();
  await ada.page.getByRole("heading", { level: 1, name: "Growing shop" }).waitFor();
  await ada.page.getByRole("button", { name: "Approve live access" }).click();
  const dialog = ada.page.getByRole("dialog");
  await dialog.getByText("A second operator. Until then nothing changes.").waitFor();
  await reasoned(ada.page, "Approve live access", "contract of May");
  await confirmed(ada.page, grace.page, gateway);
  await ada.page.locator(".page-title").getByText("Live").waitFor();

  await ada.page.getByRole("button", { name: "Deposit" }).click();
  await dialog.getByLabel("Amount").fill("2500.00");
  await dialog.getByLabel("Your reference").fill("wire-7");
  await dialog.getByLabel("Evidence").fill("statement 7, line 12");
  await looks(ada.page, "operator-client-deposit");
  await reasoned(ada.page, "Deposit", "first deposit");
  await confirmed(ada.page, grace.page, gateway);
  await ada.page.getByRole("table", { name: "Money" }).getByText("EUR 2,500.00").waitFor();
  assert.equal((await money.balance("EUR")).available, "2500.00");

  await ada.page.getByRole("button", { name: "Change limits" }).click();
  await dialog.getByLabel("Largest payment").fill("50");
  // What is no number lifts no limit: it is refused, and shown at its field.
  await dialog.getByLabel("Daily payments").fill("1,000");
  await dialog.getByLabel("Reason").fill("new client");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await dialog.getByRole("alert").waitFor();
  assert.equal(await dialog.getByLabel("Daily payments").getAttribute("aria-invalid"), "true");
  await dialog.getByLabel("Daily payments").fill("20");
  await reasoned(ada.page, "Save", "new client");
  await ada.page.getByRole("table", { name: "Limits" }).getByText("EUR 50.00").waitFor();
  await ada.page.getByRole("button", { name: "Change fees" }).click();
  await dialog.getByRole("button", { name: "Add a rule" }).click();
  await dialog.getByLabel("Flat").fill("0.10");
  await dialog.getByLabel("Currency").fill("EUR");
  await looks(ada.page, "operator-client-fees");
  await reasoned(ada.page, "Save", "as agreed");
  await ada.page.getByRole("table", { name: "Fees" }).getByText("EUR 0.10", { exact: true }).waitFor();
  await ada.page.getByRole("button", { name: "Change what sessions may sign" }).click();
  await dialog.getByLabel("Sessions may sign").selectOption("off");
  await reasoned(ada.page, "Save", "asked for");
  await ada.page.getByRole("region", { name: "Sessions and reversals" }).getByText("Nothing").waitFor();
  await looks(ada.page, "operator-client");

  // A mistake is shown where it was made.
  await ada.page.getByRole("button", { name: "Withdrawal" }).click();
  await dialog.getByLabel("Amount").fill("9999");
  await dialog.getByLabel("Your reference").fill("out-1");
  await dialog.getByLabel("Evidence").fill("order 1");
  await dialog.getByRole("button", { name: "Withdrawal" }).click();
  await dialog.getByRole("alert").waitFor();
  await ada.page.keyboard.press("Escape");

  await ada.page.getByRole("button", { name: "Suspend" }).click();
  await dialog.getByText("All of its calls are refused from now on.").waitFor();
  await dialog.getByText("You alone: it takes effect at once.").waitFor();
  await reasoned(ada.page, "Suspend", "its key was stolen");
  await ada.page.locator(".page-title").getByText("Suspended").waitFor();
  await assert.rejects(money.balances(), { code: "client_suspended" });
  await ada.page.getByRole("button", { name: "End the suspension" }).click();
  await reasoned(ada.page, "End the suspension", "it has a new key");
  await ada.page.getByRole("button", { name: "Suspend" }).waitFor();
  ada.fine();
  grace.fine();
  for (const one of [ada.context, grace.context, client, money]) await one.close();
});

test("a dialog asks what it asked when it was opened, whatever another operator does meanwhile", async () => {
  const client = await shop(gateway, "Contested shop");
  const eve = await RailgateClient.open({ baseUrl: gateway.url, signer: await generateSigner(), environment: "live" });
  await eve.enrollOperator(gateway.invite("Eve", "agent"));
  const ada = await operator(browser, gateway, "Ada", "agent");
  await ada.page.goto(`${gateway.url}/console/clients/${client.clientId}`);
  await ada.page.getByRole("button", { name: "Suspend" }).click();
  const params = { id: client.clientId };
  await eve.call("POST", "/operator/clients/{id}/suspend", { params, body: { reason: "its key was stolen" } });
  await ada.page.locator(".page-title").getByText("Suspended").waitFor();
  await ada.page.getByRole("dialog", { name: "Suspend Contested shop?" }).waitFor();
  await reasoned(ada.page, "Suspend", "its key was stolen");
  await assert.rejects(client.balances(), { code: "client_suspended" });
  ada.fine();
  for (const one of [ada.context, eve, client]) await one.close();
});

test("a provider is added, edited with a view of what changes, and switched", async () => {
  const { page, context, fine } = await operator(browser, gateway, "Edith", "agent");
  await page.goto(`${gateway.url}/console/providers`);
  await page.getByRole("link", { name: "Add a provider" }).click();
  await page.getByLabel("Id").fill("third");
  await page.getByLabel("Name", { exact: true }).fill("Third choice");
  await page.getByLabel("Rail").selectOption("simulator");
  await page.getByLabel("Currencies").fill("EUR, KES");
  await page.getByRole("button", { name: "Add a limit" }).click();
  await page.getByLabel("Currency").first().fill("EUR");
  await page.getByLabel("Largest").fill("500");
  await page.getByRole("table", { name: "What would change" }).getByRole("row", { name: /Currencies.*EUR, KES/ }).waitFor();
  await looks(page, "operator-provider-new");
  await page.getByRole("button", { name: "Save" }).click();
  await reasoned(page, "Save", "more choice");
  await page.getByRole("link", { name: "Third choice" }).click();
  await page.getByText("EUR, KES").waitFor();

  await page.getByRole("link", { name: "Edit" }).click();
  const changes = page.getByRole("table", { name: "What would change" });
  await page.getByText("Nothing would change.").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Third, renamed");
  await page.getByLabel("Largest").fill("750.00");
  await changes.getByText("Limits › EUR › Largest").waitFor();
  await changes.getByText("750.00").waitFor();
  await looks(page, "operator-provider-edit");
  // Somebody else is faster: nothing of theirs is overwritten.
  await replaced(gateway, { id: "third", name: "Third choice", rail: "simulator", mode: "sandbox", currencies: ["EUR"] });
  await page.getByRole("button", { name: "Save" }).click();
  const dialog = page.getByRole("dialog", { name: "Change Third choice?" });
  await dialog.getByText("2 places change").waitFor();
  await dialog.getByLabel("Reason").fill("contract of May");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("link", { name: "version_conflict" }).waitFor();
  await page.keyboard.press("Escape");
  await page.reload();
  await page.getByLabel("Name", { exact: true }).fill("Third, renamed");
  await page.getByRole("button", { name: "Save" }).click();
  await reasoned(page, "Save", "contract of May");
  await page.getByRole("heading", { level: 1, name: "Third, renamed" }).waitFor();
  await looks(page, "operator-provider");
  await page.getByRole("button", { name: "Maintenance" }).click();
  await reasoned(page, "Maintenance", "announced for tonight");
  await page.locator(".page-title").getByText("Maintenance").waitFor();
  await page.getByRole("button", { name: "Disable" }).click();
  await reasoned(page, "Disable", "contract ended");
  await page.locator(".page-title").getByText("Disabled").waitFor();
  await page.getByRole("button", { name: "Enable" }).click();
  await reasoned(page, "Enable", "contract renewed");
  await page.locator(".page-title").getByText("Up").waitFor();
  fine();
  await context.close();
});

test("a live provider changes when a second operator has seen what changes", async () => {
  const edith = await operator(browser, gateway, "Edith", "agent");
  const grace = await operator(browser, gateway, "Grace", "approver");
  await edith.page.goto(`${gateway.url}/console/new-provider`);
  await edith.page.getByLabel("Id").fill("acme-live");
  await edith.page.getByLabel("Name", { exact: true }).fill("Acme");
  await edith.page.getByLabel("Mode").selectOption("live");
  await edith.page.getByLabel("Address").fill("https://api.acme.example/railgate");
  await edith.page.getByRole("button", { name: "Add a secret" }).click();
  await edith.page.getByLabel("Secret 1: name").fill("token");
  await edith.page.getByLabel("Secret 1: value").fill("let-me-in");
  await edith.page.getByRole("button", { name: "Save" }).click();
  await reasoned(edith.page, "Save", "contract of May");
  await grace.page.getByRole("link", { name: /requests? waits? for a second operator/ }).click();
  await grace.page.getByRole("link", { name: "Add or change a provider" }).click();
  const changes = grace.page.getByRole("table", { name: "What would change" });
  await changes.getByText("https://api.acme.example/railgate").waitFor();
  assert.doesNotMatch(await grace.page.locator("main").innerText(), /let-me-in/);
  await looks(grace.page, "operator-approval-provider");
  await grace.page.getByRole("button", { name: "Confirm" }).click();
  await grace.page.getByRole("dialog").getByRole("button", { name: "Confirm" }).click();
  await grace.page.locator(".page-title").getByText("Confirmed").waitFor();
  await edith.page.getByRole("link", { name: "Acme", exact: true }).click();
  await edith.page.getByText("token", { exact: true }).waitFor();
  edith.fine();
  grace.fine();
  for (const { context } of [edith, grace]) await context.close();
});

test("the table of routes is edited with a view of what changes, and tested", async () => {
  const { page, context, fine } = await operator(browser, gateway, "Rosa", "agent");
  await page.goto(`${gateway.url}/console/routes`);
  await page.getByText("There are no entries").waitFor();
  await page.getByRole("button", { name: "Edit the table" }).click();
  await page.getByRole("button", { name: "Add an entry" }).click();
  await page.getByLabel("Prefix").fill("+2547");
  await page.getByRole("button", { name: "Add a provider" }).click();
  await page.getByLabel("Provider 1", { exact: true }).selectOption("simulator-backup");
  await page.getByRole("table", { name: "What would change" }).waitFor();
  await looks(page, "operator-routes-edit");
  await page.getByRole("button", { name: "Replace the table" }).click();
  await reasoned(page, "Replace the table", "contract of May");
  await page.getByRole("table", { name: "Routes" }).getByText("msisdn:+2547").waitFor();
  await page.getByLabel("To", { exact: true }).fill("msisdn:+254700000001");
  const result = page.getByRole("table", { name: "Route of the payment" });
  // Every server follows the table within seconds; the last to do so may be the one that explains.
  do {
    await page.getByRole("button", { name: "Show the route" }).click();
    await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
    await result.waitFor();
  } while ((await result.getByText("Takes it").count()) !== 1);
  await result.getByRole("row", { name: /Simulated operator, second choice.*Takes it/ }).waitFor();
  await looks(page, "operator-routes");
  await page.getByLabel("To", { exact: true }).fill("nobody");
  await page.getByRole("button", { name: "Show the route" }).click();
  await page.getByRole("alert").waitFor();
  // Without the entry, everybody has a route again.
  await page.getByRole("button", { name: "Edit the table" }).click();
  await page.getByRole("button", { name: "Remove entry 1" }).click();
  await page.getByRole("table", { name: "What would change" }).getByRole("row", { name: /Routes › 1 › Prefix.*\+2547.*Nothing/ }).waitFor();
  await page.getByRole("button", { name: "Replace the table" }).click();
  await reasoned(page, "Replace the table", "contract ended");
  await page.getByText("There are no entries").waitFor();
  fine();
  await context.close();
});
