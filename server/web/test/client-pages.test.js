// Every page of clients by keyboard alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { enrolled, pay, person, stage } from "./console.js";
import { walk } from "./keys.js";
import { addressesOf } from "./views.js";

const { gateway, browser } = await stage();

/** The address of a link within the console. */
const leadsTo = async (link) => (await link.first().getAttribute("href")).replace("/console", "");

/** Makes something of everything that a client has; the addresses of the views that show one of them. */
async function furnished(page) {
  const go = (path) => page.goto(`${gateway.url}/console${path}`);
  await go("/webhooks");
  await page.getByRole("button", { name: "New webhook" }).first().click();
  // Nothing listens there.
  await page.getByLabel("Address").fill("http://127.0.0.1:9/hook");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: "I have copied it" }).click();
  const webhook = await leadsTo(page.getByRole("link", { name: "http://127.0.0.1:9/hook" }));
  await pay(page, { amount: "5.00", currency: "EUR", to: "sim:ok", reference: "walked" });
  await page.locator(".page-title").getByText("Completed").waitFor();
  await go(webhook);
  const delivery = await leadsTo(page.getByRole("table", { name: "Deliveries" }).getByRole("link", { name: "settlement.accepted" }));
  await go("/users");
  await page.getByRole("button", { name: "New code for a device" }).click();
  await page.getByLabel("User", { exact: true }).fill("ada");
  await page.getByRole("button", { name: "Make a code" }).click();
  await page.getByRole("dialog", { name: "Code for a device of ada" }).waitFor();
  await page.getByRole("button", { name: "Close" }).last().click();
  return {
    "/settlements/:ref": "/settlements/walked",
    "/balances/:currency": "/balances/EUR",
    "/webhooks/:id": webhook,
    "/webhooks/:id/deliveries/:delivery": delivery,
    "/users/:user": await leadsTo(page.getByRole("link", { name: "ada", exact: true })),
  };
}

test("all of each page is reached by Tab, and seen to have the focus", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Walking shop");
  for (const path of addressesOf("client", await furnished(page))) {
    await page.goto(`${gateway.url}/console${path}`);
    await page.locator("main h1").waitFor();
    await page.locator("main .loading").first().waitFor({ state: "detached" });
    assert.ok((await walk(page)) > 0, path);
  }
  fine();
  await context.close();
});
