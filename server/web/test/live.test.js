// Several tabs, and what happens elsewhere.
import assert from "node:assert/strict";
import { test } from "node:test";
import { enrolled, pay, person, stage } from "./console.js";

const { gateway, browser } = await stage();

test("many tabs follow one payment with one connection for events", async () => {
  const { page, context, fine } = await person(browser);
  const streams = [];
  context.on("request", (request) => {
    if (request.headers()["accept"] === "text/event-stream") streams.push(request.url());
  });
  await enrolled(page, gateway, "Tabbed shop");
  await pay(page, { amount: "4", currency: "EUR", to: "sim:pending", reference: "tabs" });
  await page.locator(".page-title").getByText("Submitted").waitFor();
  const opened = streams.length;
  // More than a browser opens connections to one server.
  const tabs = await Promise.all(Array.from({ length: 7 }, () => context.newPage()));
  for (const tab of tabs) {
    await tab.goto(page.url());
    await tab.locator(".page-title").getByText("Submitted").waitFor();
  }
  assert.equal(streams.length, opened, "another tab follows events too");
  await page.getByLabel("Outcome").selectOption("completed");
  await page.getByRole("button", { name: "Decide" }).click();
  for (const tab of tabs) await tab.locator(".page-title").getByText("Completed").waitFor();
  // The tab that followed is gone: another one follows.
  await page.close();
  const [first, second] = tabs;
  await first.getByRole("button", { name: "Reverse" }).click();
  await first.getByRole("dialog").getByRole("button", { name: /^Reverse EUR/ }).click();
  await second.locator(".page-title").getByText("Reversed").waitFor();
  fine();
  await context.close();
});
