// What the second operator sees before something is replaced: also what goes with it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { looks, stage } from "./console.js";
import { confirmed, operator, reasoned, shop } from "./operator.js";

const { gateway, browser } = await stage("--four-eyes", "money,access,outcome,provider,terms");

/** The request that waits about the page of the first, as the second one sees it: rows of place, before and after. */
async function asked(page, other) {
  const link = page.getByRole("link", { name: "Look at the request" });
  await other.goto(new URL(await link.getAttribute("href"), gateway.url).href);
  const table = other.getByRole("table", { name: "What would change" });
  await table.waitFor();
  const rows = await table.locator("tbody tr").all();
  return Promise.all(rows.map(async (row) => (await row.locator("td, th").allTextContents()).join(" | ")));
}

test("secrets that a request does not name are shown as removed", async () => {
  const ada = await operator(browser, gateway, "Ada", "agent");
  const grace = await operator(browser, gateway, "Grace", "approver");
  const { page } = ada;
  await page.goto(`${gateway.url}/console/new-provider`);
  await page.getByLabel("Id").fill("sealed-live");
  await page.getByLabel("Name", { exact: true }).fill("Sealed");
  await page.getByLabel("Mode").selectOption("live");
  await page.getByLabel("Address").fill("https://api.sealed.example/railgate");
  for (const [n, name] of ["token", "callback_secret"].entries()) {
    await page.getByRole("button", { name: "Add a secret" }).click();
    await page.getByLabel(`Secret ${n + 1}: name`).fill(name);
    await page.getByLabel(`Secret ${n + 1}: value`).fill("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  }
  await page.getByRole("button", { name: "Save" }).click();
  await reasoned(page, "Save", "contract of May");
  await grace.page.getByRole("link", { name: /requests? waits? for a second operator/ }).click();
  await grace.page.getByRole("link", { name: "Add or change a provider" }).click();
  await grace.page.getByRole("button", { name: "Confirm" }).click();
  await grace.page.getByRole("dialog").getByRole("button", { name: "Confirm" }).click();
  await grace.page.locator(".page-title").getByText("Confirmed").waitFor();

  await page.goto(`${gateway.url}/console/providers/sealed-live/edit`);
  await page.getByRole("button", { name: "Add a secret" }).click();
  await page.getByLabel("Secret 1: name").fill("token");
  await page.getByLabel("Secret 1: value").fill("another");
  // Whoever asks sees it, and whoever confirms.
  await page.getByRole("table", { name: "What would change" }).getByRole("row", { name: /callback_secret.*Set.*Nothing/ }).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await reasoned(page, "Save", "a new token");
  await page.getByRole("heading", { level: 1, name: "Sealed" }).waitFor();
  assert.deepEqual(await asked(page, grace.page), ["Secrets › callback_secret | Set | Nothing", "Secrets › token | Set | hidden"]);
  await looks(grace.page, "operator-approval-secrets");
  ada.fine();
  grace.fine();
  for (const { context } of [ada, grace]) await context.close();
});

test("terms are shown as changes of what is in force; what is removed, too", async () => {
  const client = await shop(gateway, "Agreed shop");
  const ada = await operator(browser, gateway, "Agnes", "agent");
  const grace = await operator(browser, gateway, "Greta", "approver");
  const { page } = ada;
  const dialog = page.getByRole("dialog");
  await page.goto(`${gateway.url}/console/clients/${client.clientId}`);
  await page.getByRole("button", { name: "Change limits" }).click();
  await dialog.getByLabel("Largest payment").fill("50");
  await dialog.getByLabel("Daily payments").fill("20");
  await reasoned(page, "Save", "new client");
  assert.deepEqual(await asked(page, grace.page), ["Largest | Nothing | 50", "Daily payments | Nothing | 20"]);
  await confirmed(page, grace.page, gateway);
  await page.getByRole("button", { name: "Change limits" }).click();
  await dialog.getByLabel("Daily payments").fill("");
  await reasoned(page, "Save", "asked for");
  assert.deepEqual(await asked(page, grace.page), ["Daily payments | 20 | Nothing"]);
  await grace.page.getByText("EUR", { exact: true }).waitFor();
  await looks(grace.page, "operator-approval-limits");
  await confirmed(page, grace.page, gateway);

  await page.getByRole("button", { name: "Change fees" }).click();
  await dialog.getByRole("button", { name: "Add a rule" }).click();
  await dialog.getByLabel("Flat").fill("0.10");
  await dialog.getByLabel("Currency").fill("EUR");
  await reasoned(page, "Save", "as agreed");
  await confirmed(page, grace.page, gateway);
  await page.getByRole("button", { name: "Change fees" }).click();
  await dialog.getByRole("button", { name: "Remove rule 1" }).click();
  await reasoned(page, "Save", "as agreed in June");
  const gone = await asked(page, grace.page);
  assert.ok(gone.some((row) => /^Fees › 1 › Flat \| 0\.10? \| Nothing$/.test(row)), gone.join("\n"));
  await confirmed(page, grace.page, gateway);
  // Once it is decided, the request itself is shown: no rule at all.
  await grace.page.getByText("Fees", { exact: true }).waitFor();
  await grace.page.locator(".places").getByText("None", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Change what sessions may sign" }).click();
  await dialog.getByLabel("Sessions may sign").selectOption("off");
  await reasoned(page, "Save", "asked for");
  assert.deepEqual(await asked(page, grace.page), ["Sessions may sign | Reads only | Nothing"]);
  await confirmed(page, grace.page, gateway);
  await page.getByRole("button", { name: "Credit line" }).click();
  await dialog.getByLabel("Credit", { exact: true }).fill("500.00");
  await dialog.getByLabel("Your reference").fill("credit-1");
  await dialog.getByLabel("Evidence").fill("contract of June");
  await reasoned(page, "Credit line", "as agreed");
  assert.deepEqual(await asked(page, grace.page), ["Amount | 0 | -500.00"]);
  await grace.page.getByText("contract of June").waitFor();
  ada.fine();
  grace.fine();
  for (const one of [ada.context, grace.context, client]) await one.close();
});
