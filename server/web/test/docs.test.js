// The documentation: every page looks right in all forms, every link leads somewhere, the search needs no network, and what a page offers
// to try works: in the tab, without the server, and at the server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { looks, person, stage } from "./console.js";

const { gateway, browser } = await stage();

/** Somebody on a page of the documentation. */
async function reader(path, options) {
  const someone = await person(browser, options);
  await someone.page.goto(gateway.url + path);
  return someone;
}

const PAGES = [
  ["home", "/docs", "railgate documentation"],
  ["start", "/docs/start/first-settlement", "First settlement"],
  ["guide", "/docs/webhooks", "Webhooks"],
  ["tables", "/docs/lifecycle", "Lifecycles: every state × every input"],
  ["decision", "/docs/adr/0003-unknown-is-never-failed", /Unknown is never failed/],
  ["problem", "/docs/problems/no_route", "No provider serves that participant and currency now"],
  ["problems", "/docs/problems", "Error codes"],
  ["not-found", "/docs/nothing-here", "There is no such page"],
  ["reference", "/docs/api", "API reference"],
  ["call", "/docs/api/createSettlement", "Create a settlement"],
  ["sent", "/docs/api/onSettlementCompleted", "settlement.completed"],
];

for (const [name, path, title] of PAGES) {
  test(`${path} is readable in all forms`, async () => {
    const { page, context, fine } = await reader(path);
    await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
    if (name === "reference") await page.getByRole("link", { name: /Create a settlement/ }).waitFor();
    await looks(page, `docs-${name}`);
    fine();
    await context.close();
  });
}

test("a page is readable without any script", async () => {
  const { page, context } = await reader("/docs/start/first-settlement", { javaScriptEnabled: false });
  await page.getByRole("heading", { level: 1, name: "First settlement" }).waitFor();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Going live" }).click();
  await page.getByRole("heading", { level: 1, name: "Going live" }).waitFor();
  await context.close();
});

test("no link of any page is dead, and every page is in the sidebar", async () => {
  const pages = new Map();
  /** What a page has: its anchors and its links. The reference has those of its script in a test of its own. */
  const read = async (path) => {
    const response = await fetch(gateway.url + path);
    const html = response.headers.get("content-type").startsWith("text/html") ? await response.text() : "";
    const found = (pattern) => [...html.matchAll(pattern)].map(([, value]) => value.replaceAll("&amp;", "&"));
    pages.set(path, { status: response.status, anchors: new Set(found(/\sid="([^"]+)"/g)), links: found(/<a [^>]*?href="([^"]+)"/g) });
  };
  const dead = [];
  const open = [{ from: "/docs", to: "/docs" }];
  for (const { from, to } of open) {
    const { origin, pathname, search, hash } = new URL(to, gateway.url + from);
    if (origin !== gateway.url) continue;
    const path = pathname + search;
    if (!pages.has(path)) {
      await read(path);
      if (path.startsWith("/docs")) open.push(...pages.get(path).links.map((link) => ({ from: path, to: link })));
    }
    const { status, anchors } = pages.get(path);
    if (status !== 200) dead.push(`${from}: ${to} is ${status}`);
    else if (hash !== "" && path.startsWith("/docs") && !anchors.has(decodeURIComponent(hash.slice(1))))
      dead.push(`${from}: ${to} has no such place`);
  }
  assert.deepEqual(dead, []);
  assert.ok(pages.size > 120, `${pages.size} pages were found`);
  for (const start of ["going-live", "webhooks", "receipts", "phones", "embedding-in-rust", "writing-a-rail", "postgresql", "running"]) {
    assert.ok(pages.has(`/docs/start/${start}`), start);
  }
});

test("every page of the sidebar has a title of its own", async () => {
  const html = await (await fetch(`${gateway.url}/docs`)).text();
  const [, sidebar] = /<nav class="docs-pages"[^>]*>(.*?)<\/nav>/s.exec(html);
  const titled = async (path) => /<title>(.+) · railgate docs<\/title>/.exec(await (await fetch(gateway.url + path)).text())[1];
  const titles = await Promise.all([...sidebar.matchAll(/<a href="([^"]+)"/g)].map(([, path]) => titled(path)));
  assert.ok(titles.length > 60, `${titles.length} pages were found`);
  assert.deepEqual(titles, [...new Set(titles)]);
});

test("the search finds guides, calls and codes, by keyboard and without a network", async () => {
  const { page, context, fine } = await reader("/docs/receipts");
  const field = page.getByRole("combobox", { name: "Search guides, calls and error codes" });
  const option = (name) => page.getByRole("option", { name });
  await page.keyboard.press("/");
  await field.fill("no_route");
  await option(/no_route: No provider serves/).waitFor();
  await context.setOffline(true);
  await field.fill("reverse a settlement");
  await option(/Reverse a settlement\s*API reference/).waitFor();
  await field.fill("group commit writer");
  await option(/Decisions:/)
    .first()
    .waitFor();
  await field.fill("nothing has this word qqqq");
  await page.getByText("Nothing has “nothing has this word qqqq”").waitFor();
  await field.fill("rotating secret");
  await option(/Rotating the secret\s*Webhooks/).waitFor();
  // A heading that says nothing by itself comes with the one above it.
  await option(/Added\s*Reference: Changelog › Unreleased/).waitFor();
  await context.setOffline(false);
  await looks(page, "docs-search");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/docs\/webhooks#rotating-the-secret/);
  fine();
  await context.close();
});

test("every entry of the search leads to a page of this server", async () => {
  const html = await (await fetch(`${gateway.url}/docs`)).text();
  const [, index] = /data-search="([^"]+)"/.exec(html);
  const { storedFields } = await (await fetch(gateway.url + index)).json();
  const urls = Object.values(storedFields).map(({ url }) => url);
  const { paths } = await (await fetch(`${gateway.url}/openapi.json`)).json();
  const calls = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => `/docs/api/${operationId}`));
  assert.deepEqual(urls.filter((url) => url.startsWith("/docs/api/")).sort(), calls.sort());
  const codes = urls.filter((url) => url.startsWith("/docs/problems/"));
  const listed = (await (await fetch(`${gateway.url}/docs/problems`)).text()).matchAll(/href="(\/docs\/problems\/[^"]+)"/g);
  assert.deepEqual(codes.sort(), [...listed].map(([, url]) => url).sort());
});

test("light or dark is the reader's choice, and stays", async () => {
  const { page, context, fine } = await reader("/docs");
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByLabel("Theme").selectOption("Dark");
  assert.notEqual(await ground(), light);
  await page.goto(`${gateway.url}/docs/webhooks`);
  await page.locator("html[data-theme=dark]").waitFor();
  fine();
  await context.close();
});

test("the keyboard skips to the text, and reaches a page from the sidebar", async () => {
  const { page, context, fine } = await reader("/docs/webhooks");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Going live" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Going live" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search the documentation" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  fine();
  await context.close();
});

test("on a phone, all pages are behind one button", async () => {
  const { page, context, fine } = await reader("/docs/webhooks", { viewport: { width: 390, height: 844 }, hasTouch: true });
  const link = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "First settlement" });
  assert.equal(await link.isVisible(), false);
  await page.getByRole("button", { name: "All pages" }).tap();
  await link.tap();
  await page.getByRole("heading", { level: 1, name: "First settlement" }).waitFor();
  fine();
  await context.close();
});

test("a payment fails over in the tab, and the trace shows it, without a server", async () => {
  const { page, context, fine } = await reader("/docs/try");
  await page.getByLabel("Payee").waitFor();
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await context.setOffline(true);
  assert.equal(await page.getByLabel("Payee").inputValue(), "sim:failover");
  await page.getByRole("button", { name: "Pay", exact: true }).click();
  await page.getByText("Completed: the money is posted").waitFor();
  const trace = await page
    .locator(".trace li")
    .evaluateAll((items) => items.map((item) => [item.dataset.type, item.firstElementChild.textContent]));
  assert.deepEqual(
    trace.map(([type]) => type),
    [
      "settlement.accepted",
      "settlement.submitted",
      "attempt.started",
      "attempt.answered",
      "attempt.started",
      "attempt.answered",
      "settlement.completed",
    ],
  );
  assert.equal(trace[2][1], "Attempt 1 is sent to simulator");
  assert.equal(trace[3][1], "Attempt 1: declined");
  assert.equal(trace[4][1], "Attempt 2 is sent to simulator-backup");
  assert.equal(trace[5][1], "Attempt 2: completed");
  const facts = page.locator(".result .facts");
  await facts.getByText("completed").waitFor();
  await facts.getByText("simulator-backup").waitFor();
  assert.deepEqual(asked, []);
  await context.setOffline(false);
  await looks(page, "docs-try");
  await page.getByRole("button", { name: "Reverse it" }).click();
  await facts.getByText("reversed").waitFor();
  fine();
  await context.close();
});

test("a lost answer is found by putting the sandbox's clock ahead", async () => {
  const { page, context, fine } = await reader("/docs/try?to=sim:timeout-then-ok");
  await page.getByRole("button", { name: "Pay", exact: true }).click();
  await page.getByText("The outcome is unknown: the money stays on hold").waitFor();
  await page.getByRole("button", { name: "Advance the clock by 30 seconds" }).click();
  await page.getByText("Completed: the money is posted").waitFor();
  fine();
  await context.close();
});

test("the same payment at the server, signed with a key made in the browser", async () => {
  const { page, context, fine } = await reader("/docs/try");
  await page.getByLabel("This server").check();
  await page.getByLabel("Name of the client").fill("Careful reader");
  await page.getByRole("button", { name: "Make a key and enrol" }).click();
  await page.getByText(/Signed as cli_/).waitFor();
  await page.getByRole("button", { name: "Pay", exact: true }).click();
  await page.getByText("Completed: the money is posted").waitFor();
  await page.locator(".result .facts").getByText("simulator-backup").waitFor();
  await looks(page, "docs-try-server");
  const stored = await page.evaluate(async () => {
    const database = await new Promise((resolve) => (indexedDB.open("railgate-docs").onsuccess = (event) => resolve(event.target.result)));
    const values = await new Promise((resolve) => {
      database.transaction("vault").objectStore("vault").getAll().onsuccess = (event) => resolve(event.target.result);
    });
    return JSON.stringify(values) + JSON.stringify({ ...localStorage });
  });
  assert.match(stored, /cli_/);
  assert.doesNotMatch(stored, /rg_sandbox_/);
  // The key is still there, and signs calls of the reference too.
  await page.goto(`${gateway.url}/docs/api/listBalances`);
  await page.getByLabel("This server").check();
  await page.getByText(/Signed as cli_/).waitFor();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("region", { name: "Answer" }).getByText('"available"').first().waitFor();
  await page.getByRole("button", { name: "Delete the key" }).click();
  await page.getByRole("button", { name: "Make a key and enrol" }).waitFor();
  fine();
  await context.close();
});

test("a call of the reference runs in the tab, and says what is wrong with it", async () => {
  const { page, context, fine } = await reader("/docs/api/createSettlement");
  const body = page.getByLabel("Body (JSON)");
  const example = JSON.parse(await body.inputValue());
  await page.getByRole("button", { name: "Send" }).click();
  const answer = page.getByRole("region", { name: "Answer" });
  await answer.getByText(example.reference).first().waitFor();
  const created = JSON.parse(await answer.innerText());
  assert.deepEqual([created.reference, created.to], [example.reference, "sim:failover"]);
  await body.fill(JSON.stringify({ ...example, amount: "1.001", reference: "a b" }));
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("alert").getByText(/^Amount:/).waitFor();
  await body.fill("{");
  await page.getByText("This is not valid JSON").waitFor();
  // The same payment, read by another call.
  await page.goto(`${gateway.url}/docs/api/getSettlement`);
  await page.getByLabel("ref", { exact: true }).fill(example.reference);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("region", { name: "Answer" }).getByText('"completed"').first().waitFor();
  fine();
  await context.close();
});

test("the reference has every call of the document, and leads to each", async () => {
  const { page, context, fine } = await reader("/docs/api");
  await page.getByRole("link", { name: /Create a settlement/ }).waitFor();
  const { paths, webhooks } = await (await fetch(`${gateway.url}/openapi.json`)).json();
  const ids = [paths, webhooks].flatMap((all) =>
    Object.values(all).flatMap((methods) => Object.values(methods).map((one) => one.operationId)),
  );
  const links = await page.locator(".group a").evaluateAll((found) => found.map((link) => new URL(link.href).pathname));
  assert.deepEqual(links.sort(), ids.map((id) => `/docs/api/${id}`).sort());
  await page.getByLabel("Filter calls").fill("reverse");
  await page.getByRole("link", { name: /Reverse a settlement/ }).click();
  await page.getByRole("heading", { level: 1, name: "Reverse a settlement" }).waitFor();
  await page.locator('a[href="/docs/problems/reversal_exceeds_remaining"]').waitFor();
  await page.getByText("More than what is left to reverse").waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "API reference" }).waitFor();
  // Each has a page without a fault.
  for (const id of ids) {
    await page.evaluate((to) => {
      const link = Object.assign(document.createElement("a"), { href: to });
      document.querySelector("article").append(link);
      link.click();
      link.remove();
    }, `/docs/api/${id}`);
    await page.waitForFunction((path) => location.pathname === path && document.querySelector(".operation") !== null, `/docs/api/${id}`);
  }
  fine();
  await context.close();
});

test("no page registers a service worker: the policy would have to let scripts be made of text", async () => {
  const { page, context } = await person(browser);
  await page.goto(`${gateway.named}/docs`);
  const said = await page.evaluate(() => navigator.serviceWorker.register("/docs/worker.js").then(String, String));
  assert.match(said, /TypeError: .*TrustedScriptURL/);
  await context.close();
});
