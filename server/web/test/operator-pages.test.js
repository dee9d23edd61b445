// Every page of operators: by keyboard alone, with hostile texts in everything that others choose, and after a lost connection.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { looks, stage } from "./console.js";
import { press, reach, type, walk } from "./keys.js";
import { addressesOf } from "./views.js";
import { bundleOf, operator, replaced, shop, stuck } from "./operator.js";

const { gateway, browser } = await stage();

/** Text that would run if it were taken for markup. */
const HOSTILE = `<img src=x onerror="globalThis.harmed=1"><script>globalThis.harmed=1</script>'"&`;

/** A gateway in which everything has a hostile name; the addresses of all its pages. */
async function hostileWorld() {
  const client = await shop(gateway, HOSTILE);
  const payment = { amount: "3.00", currency: "EUR", to: "sim:ok", reference: "described" };
  await client.create({ ...payment, description: HOSTILE.slice(0, 140), metadata: { note: HOSTILE } });
  await client.settled("described");
  await stuck(client, [{ reference: "stuck", amount: "2000.00", description: HOSTILE.slice(0, 140) }]);
  const settings = { statement_amount: HOSTILE, statement_currency: "=EUR", statement_date: "Time" };
  await replaced(gateway, { id: "hostile", name: HOSTILE, rail: "simulator", mode: "sandbox", settings });
  const bundle = bundleOf("https://sandbox.acme.example/railgate", { name: HOSTILE.slice(0, 90) });
  const { id } = await client.call("POST", "/bundles", { contentType: "application/json", body: bundle });
  await client.call("POST", "/bundles/{id}/submit", { params: { id }, body: { comment: HOSTILE } });
  const settlement = (await client.get("described")).id;
  const review = (await client.get("stuck")).id;
  const views = {
    "/reviews/:id": `/reviews/${review}`,
    "/settlements/:id": `/settlements/${settlement}`,
    "/clients/:id": `/clients/${client.clientId}`,
    "/providers/:id": "/providers/hostile",
    "/providers/:id/edit": "/providers/hostile/edit",
    "/bundles/:id": `/bundles/${id}`,
  };
  return { client, views, review };
}

/** Compares a statement of the provider with the hostile name; the address of what was found. */
async function compared(page) {
  await page.goto(`${gateway.url}/console/reconciliations`);
  const form = page.getByRole("region", { name: "Compare a statement" });
  await form.getByLabel("Provider").selectOption("hostile");
  const line = `${HOSTILE.replaceAll('"', '""')}`;
  const body = `Time,"${line}"\n2026-01-01T00:00:00Z,-3.00\n`;
  await form.getByLabel("Statement").setInputFiles({ name: "hostile.csv", mimeType: "text/csv", buffer: Buffer.from(body) });
  await form.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("heading", { level: 1, name: "hostile.csv" }).waitFor();
  return new URL(page.url()).pathname.replace("/console", "");
}

let world;
before(async () => (world = await hostileWorld()));

test("texts that others choose stay texts on every page, and all of each page is reached by Tab", async () => {
  const { page, context, fine } = await operator(browser, gateway, HOSTILE, "admin");
  await page.goto(`${gateway.url}/console/reviews/${world.review}`);
  await page.getByRole("radio", { name: /^It was paid/ }).check();
  await page.getByRole("textbox", { name: "Evidence" }).fill(HOSTILE);
  await page.getByRole("button", { name: "Decide…" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill(HOSTILE);
  await page.getByRole("dialog").getByRole("button", { name: "Record the decision" }).click();
  const request = page.getByRole("link", { name: "Look at the request" });
  await request.waitFor();
  const approval = (await request.getAttribute("href")).replace("/console", "");
  const views = { ...world.views, "/approvals/:id": approval, "/reconciliations/:id": await compared(page) };
  let shown = 0;
  for (const path of addressesOf("operator", views)) {
    await page.goto(`${gateway.url}/console${path === "/" ? "" : path}`);
    await page.locator("main h1").waitFor();
    await page.locator("main .loading").first().waitFor({ state: "detached" });
    shown += (await page.locator("main").innerText()).includes("<img src=x") ? 1 : 0;
    assert.equal(await page.locator("main img, main script").count(), 0, path);
    assert.ok((await walk(page)) > 0 || path === "/approvals", path);
    assert.equal(await page.evaluate(() => globalThis.harmed), undefined, path);
  }
  assert.ok(shown >= 10, `${shown} pages show the text`);
  await page.goto(`${gateway.url}/console/settlements`);
  await page.getByRole("link", { name: "stuck" }).waitFor();
  await looks(page, "operator-settlements");
  await page.getByRole("link", { name: "described" }).click();
  await page.getByRole("table", { name: "Holds and postings" }).getByText("Payment, posted").waitFor();
  await looks(page, "operator-settlement");
  fine();
  await context.close();
});

test("an operator decides about a review by keyboard alone", async () => {
  await stuck(world.client, [{ reference: "by-keys", amount: "15.00" }]);
  const { page, context, fine } = await operator(browser, gateway, "Keys only", "agent");
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("heading", { level: 1, name: "Reviews" }).waitFor();
  await page.getByRole("link", { name: "by-keys" }).waitFor();
  await reach(page, "link", "stuck");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Review of by-keys" }).waitFor();
  await page.getByRole("radio").first().waitFor();
  while (!(await page.evaluate(() => document.activeElement?.matches("[type=radio]")))) await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowDown");
  await page.getByRole("radio", { name: /^It was not paid/, checked: true }).waitFor();
  await type(page, "Evidence", "letter of 24 November");
  await press(page, "Decide…");
  await page.getByRole("dialog").waitFor();
  await type(page, "Reason (optional)", "seen");
  await page.keyboard.press("Enter");
  await page.getByText("This does not wait for a person any more").waitFor();
  assert.equal((await world.client.get("by-keys")).status, "failed");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("audit");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Audit trail" }).waitFor();
  await page.getByRole("row", { name: /Resolve review/ }).first().waitFor();
  fine();
  await context.close();
});

test("more declines than usual are said on the first page, which leads to them; webhooks that do not arrive are beside them", async () => {
  const client = await shop(gateway, "Declined shop");
  // Nothing listens there.
  await client.webhooks.create({ url: "http://127.0.0.1:9/hook" });
  await client.fund({ currency: "KES", amount: "100.00" });
  for (const [n, to] of ["sim:ok", "sim:ok", ...Array(4).fill("sim:decline-account_closed")].entries()) {
    await client.create({ amount: "4.00", currency: "KES", to, reference: `day-${n}` });
    await client.settled(`day-${n}`);
  }
  const { page, context, fine } = await operator(browser, gateway, "Watchful", "viewer");
  const row = page.getByRole("region", { name: "What is unusual" }).getByRole("row", { name: /Simulated operator KES/ });
  await row.getByText("Many declines").waitFor();
  await row.getByText("33.3%").waitFor();
  const webhooks = page.getByRole("table", { name: "Webhooks" }).getByRole("row").nth(1);
  await webhooks.getByRole("cell").nth(3).getByText(/^[1-9]/).waitFor();
  await webhooks.getByText("100%").waitFor();
  await page.getByRole("img", { name: "Payments of the last 24 hours" }).waitFor();
  await looks(page, "operator-home-figures");
  await row.getByRole("link").click();
  await page.getByRole("link", { name: "day-2" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "day-0" }).count(), 0);
  await page.goto(`${gateway.url}/console/settlements?status=failed&client=${client.clientId}`);
  await page.getByRole("link", { name: "day-5" }).waitFor();
  fine();
  await context.close();
  await client.close();
});

test("a lost server is said, and the page catches up when it is back", async () => {
  const { page, context } = await operator(browser, gateway, "Patient", "viewer");
  const needs = page.getByRole("region", { name: "What needs you now" });
  await needs.getByRole("link", { name: /payments? waits? for a person/ }).waitFor();
  await gateway.stop();
  await page.getByText("Connection lost.").waitFor();
  await gateway.resume();
  await page.getByText("Connected again.").waitFor();
  await shop(gateway, "Late shop").then((client) => client.close());
  await page.getByRole("link", { name: "Clients" }).click();
  await page.getByRole("link", { name: "Late shop" }).waitFor();
  await context.close();
  await world.client.close();
});
