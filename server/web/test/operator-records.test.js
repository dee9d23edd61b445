// Statements of providers, the people who run the gateway, and the audit trail.
import assert from "node:assert/strict";
import { test } from "node:test";
import { looks, person, stage } from "./console.js";
import { operator, reasoned, replaced, shop, signIn } from "./operator.js";

const { gateway, browser } = await stage();

const DAY_MS = 86_400_000;

/** The simulated operator, with the columns of its statements. */
const PROVIDER = {
  id: "simulator",
  name: "Simulated operator",
  rail: "simulator",
  mode: "sandbox",
  settings: {
    statement_amount: "Amount",
    statement_currency: "=EUR",
    statement_date: "Time",
    statement_references: "Reference",
    statement_text: "Text",
  },
};

/** A statement of two days before and after now, with lines of a reference, an amount and a text. */
function statement(lines) {
  const row = (at, [reference, amount, text]) => `${new Date(at).toISOString()},${reference},${amount},${text}\n`;
  const now = Date.now();
  const body = lines.map((line) => row(now, line)).join("");
  return `Time,Reference,Amount,Text\n${row(now - 2 * DAY_MS, ["begin", "0.00", ""])}${body}${row(now + 2 * DAY_MS, ["end", "0.01", ""])}`;
}

test("a statement is compared; what differs is found, exported, and waits as a review with its line", async () => {
  await replaced(gateway, PROVIDER);
  const client = await shop(gateway, "Corner shop");
  const paid = async (reference) => {
    await client.create({ amount: "100.00", currency: "EUR", to: "sim:ok", reference });
    await client.settled(reference);
    return client.get(reference);
  };
  const [right, differs] = [await paid("rec-right"), await paid("rec-differs")];
  const file = statement([
    [right.rail_reference, "-100.00", ""],
    [differs.rail_reference, "-90.00", "<b>less</b>"],
  ]);
  const { page, context, fine } = await operator(browser, gateway, "Rita", "agent");
  await page.goto(`${gateway.url}/console/reconciliations`);
  const form = page.getByRole("region", { name: "Compare a statement" });
  await form.getByLabel("Provider").selectOption("simulator");
  await form.getByLabel("Statement").setInputFiles({ name: "day.csv", mimeType: "text/csv", buffer: Buffer.from(file) });
  await form.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("heading", { level: 1, name: "day.csv" }).waitFor();
  const findings = page.getByRole("table", { name: "What differs" });
  await findings.getByRole("row", { name: /The amounts differ.*<b>less<\/b>/ }).waitFor();
  await looks(page, "operator-reconciliation");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export as CSV" }).click()]);
  assert.match(download.suggestedFilename(), /^rec_.*\.csv$/);
  await page.getByRole("link", { name: /^Missing here/ }).click();
  await findings.getByText("Missing here").first().waitFor();
  assert.equal(await findings.getByText("The amounts differ").count(), 0);
  await page.goto(`${gateway.url}/console/reconciliations`);
  await page.getByText("2 differences").waitFor();
  await looks(page, "operator-reconciliations");

  await page.goto(`${gateway.url}/console/reviews`);
  await page.getByRole("link", { name: "rec-differs" }).click();
  await page.getByText("The provider's statement contradicts the recorded outcome.").waitFor();
  await page.getByRole("table", { name: "What statements say" }).getByText(/Line 4: EUR.90\.00/).waitFor();
  await looks(page, "operator-review-statement");
  await page.getByRole("textbox", { name: "Evidence" }).fill("the provider corrected it on 25 November");
  await page.getByRole("button", { name: "Decide…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Record the decision" }).click();
  await page.getByText("This does not wait for a person any more").waitFor();
  fine();
  await context.close();
  await client.close();
});

test("an administrator invites, changes a role and revokes; the others notice", async () => {
  const admin = await operator(browser, gateway, "Ida", "admin");
  await admin.page.goto(`${gateway.url}/console/operators`);
  await admin.page.getByRole("button", { name: "Invite" }).click();
  const dialog = admin.page.getByRole("dialog", { name: "Invite an operator?" });
  await dialog.getByLabel("Name").fill("Noor");
  await dialog.getByLabel("Role").selectOption("viewer");
  await looks(admin.page, "operator-invite");
  await dialog.getByLabel("Reason").fill("joined the team");
  await dialog.getByRole("button", { name: "Invite" }).click();
  const shown = admin.page.getByRole("dialog", { name: "Invitation code" });
  const code = await shown.locator("code").innerText();
  await shown.getByRole("button", { name: "I have copied it" }).click();
  const noor = await person(browser);
  await signIn(noor.page, gateway, code);
  const row = admin.page.getByRole("row", { name: /Noor/ });
  await row.getByText("Active").waitFor();
  await looks(admin.page, "operator-operators");
  await row.getByRole("button", { name: "Change role" }).click();
  await admin.page.getByRole("dialog").getByLabel("Role").selectOption("agent");
  await reasoned(admin.page, "Change role", "has learned it");
  await row.getByText("Agent").waitFor();
  await noor.page.goto(`${gateway.url}/console/providers/simulator`);
  await noor.page.getByRole("button", { name: "Maintenance" }).waitFor();
  await row.getByRole("button", { name: "Revoke" }).click();
  await admin.page.getByRole("dialog").getByText("Their key never signs again").waitFor();
  await reasoned(admin.page, "Revoke", "left");
  await row.getByText("Revoked").waitFor();
  await noor.page.getByRole("link", { name: "key_revoked" }).first().waitFor();
  // Nobody changes their own role or revokes themselves.
  assert.equal(await admin.page.getByRole("row", { name: /Ida/ }).getByRole("button").count(), 0);
  admin.fine();
  noor.fine();
  for (const { context } of [admin, noor]) await context.close();
});

test("the audit trail says who did what, and why", async () => {
  const client = await shop(gateway, "Audited shop");
  const { page, context, fine } = await operator(browser, gateway, "Otto", "agent");
  await page.goto(`${gateway.url}/console/clients/${client.clientId}`);
  await page.getByRole("button", { name: "Suspend" }).click();
  await reasoned(page, "Suspend", "its key was stolen");
  await page.getByRole("link", { name: "Its audit trail" }).click();
  await page.getByRole("heading", { level: 1, name: "Audit trail" }).waitFor();
  const row = page.getByRole("row", { name: /Otto.*Suspend client.*Done/ });
  await row.locator("summary").click();
  await row.getByText("its key was stolen").waitFor();
  await looks(page, "operator-audit");
  await page.getByLabel("Only about this client").fill("");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("Reconcile", { exact: true }).waitFor();
  fine();
  await context.close();
  await client.close();
});
