// A partner's bundle, from its submission to the provider that it makes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { looks, stage } from "./console.js";
import { adapter, bundleOf, confirmed, live, operator, shop } from "./operator.js";

const { gateway, browser } = await stage();

/** Does an act of a bundle's page, with what the reviewer says. */
async function act(page, name, said) {
  await page.getByRole("button", { name, exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator("textarea").fill(said);
  await dialog.getByRole("button", { name, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

test("a bundle is reviewed, changed, approved, published in the sandbox, and revoked", async () => {
  const partner = await shop(gateway, "Acme");
  const endpoint = await adapter(gateway);
  const { id } = await partner.call("POST", "/bundles", { contentType: "application/json", body: bundleOf(endpoint) });
  await partner.call("POST", "/bundles/{id}/submit", { params: { id } });
  const { page, context, fine } = await operator(browser, gateway, "Ruth", "agent");
  await page.getByRole("link", { name: /bundles? waits? for a reviewer/ }).click();
  await page.getByRole("heading", { level: 1, name: "Bundles" }).waitFor();
  await looks(page, "operator-bundles");
  await page.getByRole("link", { name: "acme 1.0.0" }).click();
  await page.getByRole("heading", { level: 1, name: "Acme Pay 1.0.0" }).waitFor();
  // The test goes on while somebody looks; the page follows it.
  await page.locator(".page-title").getByText("Test passed").waitFor();
  await act(page, "Begin the review", "I take it.");
  await page.locator(".page-title").getByText("In review").waitFor();
  await page.getByText("No check failed.").waitFor();
  await page.locator("summary").filter({ hasText: /It pays$/ }).click();
  await page.getByText(/PUT .*railgate\/v1\/payments/).first().waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "licence.txt" }).click()]);
  assert.equal(download.suggestedFilename(), "licence.txt");
  await page.getByLabel("Comment", { exact: true }).fill("Why so large?");
  await page.getByLabel("Place", { exact: true }).selectOption("Limits › KES › Largest");
  await page.getByRole("button", { name: "Comment" }).click();
  await page.locator(".timeline").getByText("Why so large?").waitFor();
  await looks(page, "operator-bundle");
  await act(page, "Request changes", "Halve the largest payment, please.");
  await page.locator(".page-title").getByText("Changes requested").waitFor();

  // The partner changes it; the reviewer sees what.
  const { version } = await partner.call("GET", "/bundles/{id}", { params: { id } });
  const changed = bundleOf(endpoint, { limits: { KES: { min: "10", max: "75000" } } });
  await partner.call("PUT", "/bundles/{id}", { params: { id }, ifMatch: `"${version}"`, contentType: "application/json", body: changed });
  await partner.call("POST", "/bundles/{id}/submit", { params: { id } });
  const diff = page.getByRole("region", { name: "What changed in revision 2" }).getByRole("table");
  await diff.getByRole("row", { name: /Limits › KES › Largest.*150000.*75000/ }).waitFor();
  await act(page, "Begin the review", "Thank you.");
  await page.locator(".page-title").getByText("Test passed").waitFor();
  await looks(page, "operator-bundle-changed");
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("dialog").getByText("Your signature covers the digest of the revision").waitFor();
  await looks(page, "operator-bundle-approve");
  await page.keyboard.press("Escape");
  await act(page, "Approve", "All checks passed, licence seen.");
  await page.locator(".page-title").getByText("Approved").waitFor();
  await page.getByText("Signed by the reviewer").waitFor();
  // One that was made in the sandbox is not published for real money.
  assert.equal(await page.getByRole("button", { name: "Publish live" }).count(), 0);
  await act(page, "Publish in the sandbox", "contract signed");
  await page.locator(".page-title").getByText("Published").waitFor();
  await page.getByRole("link", { name: "acme-sandbox" }).click();
  await page.getByRole("heading", { level: 1, name: "Acme Pay" }).waitFor();
  await page.getByText("KES 10.00 to KES 75,000.00").waitFor();

  // Payments reach it.
  await partner.fund({ currency: "KES", amount: "1000.00" });
  const payment = { amount: "100.00", currency: "KES", to: "msisdn:+254700000001", provider: "acme-sandbox" };
  await partner.create({ ...payment, reference: "through-acme" });
  assert.equal((await partner.settled("through-acme")).status, "completed");
  await page.getByRole("table", { name: "Paid through it" }).getByText("KES 100.00").waitFor();
  await page.goto(`${gateway.url}/console/bundles/${id}`);
  await act(page, "Revoke", "contract ended");
  await page.locator(".page-title").getByText("Revoked").waitFor();
  fine();
  await context.close();
  await partner.close();
});

test("a bundle goes live when a second operator has seen what that changes", async () => {
  const client = await shop(gateway, "Acme with a contract");
  const partner = await live(gateway, client);
  gateway.command("clients", "approve", client.clientId);
  const endpoint = await adapter(gateway);
  const named = { id: "acme-two", name: "Acme Two" };
  const { id } = await partner.call("POST", "/bundles", { contentType: "application/json", body: bundleOf(endpoint, named) });
  await partner.call("POST", "/bundles/{id}/submit", { params: { id } });
  const reviewer = await operator(browser, gateway, "Rosa", "agent");
  const second = await operator(browser, gateway, "Sofia", "approver");
  const { page } = reviewer;
  await page.goto(`${gateway.url}/console/bundles/${id}`);
  await page.locator(".page-title").getByText("Test passed").waitFor();
  await act(page, "Begin the review", "I take it.");
  await page.locator(".page-title").getByText("In review").waitFor();
  await page.locator(".page-title").getByText("Test passed").waitFor();
  await act(page, "Approve", "All checks passed.");
  await page.locator(".page-title").getByText("Approved").waitFor();
  // The sandbox comes first.
  assert.equal(await page.getByRole("button", { name: "Publish live" }).count(), 0);
  await act(page, "Publish in the sandbox", "contract of June");
  await page.locator(".page-title").getByText("Published").waitFor();
  await act(page, "Publish live", "contract of June");
  const request = page.getByRole("link", { name: "Look at the request" });
  await request.waitFor();
  await looks(page, "operator-bundle-publishing");
  // Nobody else's word but the second one's: until then, there is no such provider.
  await second.page.goto(`${gateway.url}/console/providers`);
  const providers = second.page.getByRole("row", { name: /Acme Two/ });
  await providers.filter({ hasText: "Sandbox" }).waitFor();
  assert.equal(await providers.count(), 1);
  await second.page.goto(new URL(await request.getAttribute("href"), gateway.url).href);
  await second.page.getByRole("heading", { level: 1 }).waitFor();
  await looks(second.page, "operator-approval-publication");
  await confirmed(page, second.page, gateway);
  await page.getByRole("link", { name: "acme-two", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Acme Two" }).waitFor();
  await page.locator(".page-title").getByText("Live", { exact: true }).waitFor();
  reviewer.fine();
  second.fine();
  await reviewer.context.close();
  await second.context.close();
  await partner.close();
  await client.close();
});
