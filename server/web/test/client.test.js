// The other pages of a client: figures, balances, webhooks, keys, users, quality, the simulator.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { RailgateClient, generateSigner } from "../../../bindings-wasm/npm/dist/client.js";
import { enrolled, looks, pay, person, stage } from "./console.js";

const { gateway, browser } = await stage();

/** A receiver of webhooks on this machine, with what it received. */
async function receiver(answer = 204) {
  const received = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
      response.writeHead(answer).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}/hook`, received };
}

/** Waits until something that another process brings about is there. */
async function until(found) {
  for (;;) {
    const value = found();
    if (value !== undefined && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("the overview has the figures of a period, drawn and as tables", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Seeing shop");
  await page.getByText("No payments in this period").waitFor();
  await looks(page, "overview-empty");
  for (const [n, to] of ["sim:ok", "sim:ok", "sim:ok", "sim:decline-account_closed", "sim:pending"].entries()) {
    await pay(page, { amount: `${n + 1}0`, currency: n === 2 ? "USD" : "EUR", to, reference: `seen-${n}` });
    if (to === "sim:ok") await page.locator(".page-title").getByText("Completed").waitFor();
  }
  await page.goto(`${gateway.url}/console`);
  await page.locator(".figure").filter({ hasText: "Payments" }).getByText("5", { exact: true }).waitFor();
  await page.locator(".figure").filter({ hasText: "Success" }).getByText("75%").waitFor();
  await page.getByRole("table", { name: "By currency" }).getByText("USD").first().waitFor();
  await looks(page, "overview");
  await page.getByRole("button", { name: "Show as a table" }).click();
  await page.getByRole("table", { name: "Payments over time" }).waitFor();
  await page.getByRole("button", { name: "30 days" }).click();
  await page.waitForURL(/period=month/);
  await page.getByRole("button", { name: "30 days", pressed: true }).waitFor();
  fine();
  await context.close();
});

test("balances lead to statements", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Counting shop");
  await pay(page, { amount: "12.34", currency: "EUR", to: "sim:ok", reference: "counted" });
  await page.locator(".page-title").getByText("Completed").waitFor();
  await page.goto(`${gateway.url}/console/balances`);
  await page.getByRole("link", { name: "EUR" }).waitFor();
  await looks(page, "balances");
  await page.getByRole("link", { name: "EUR" }).click();
  await page.getByRole("link", { name: "counted" }).waitFor();
  await looks(page, "statement");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export as CSV" }).click()]);
  assert.match(download.suggestedFilename(), /statement-EUR\.csv/);
  fine();
  await context.close();
});

test("a webhook is made, tested, told, replayed, and its secret rotated and shown once", async () => {
  const { page, context, fine } = await person(browser);
  const { url, received } = await receiver();
  await enrolled(page, gateway, "Told shop");
  await page.goto(`${gateway.url}/console/webhooks`);
  await page.getByText("No webhooks yet").waitFor();
  await looks(page, "webhooks-empty");
  await page.getByRole("button", { name: "New webhook" }).first().click();
  await page.getByLabel("Address").fill(url);
  await page.getByLabel("Description").fill(`<b onclick="globalThis.harmed=1">shop</b>`);
  await looks(page, "webhook-new");
  await page.getByRole("button", { name: "Create" }).click();
  const shown = page.getByRole("dialog", { name: "Webhook secret" });
  const first = await shown.locator("code").textContent();
  assert.match(first, /^whsec_/);
  await shown.getByRole("button", { name: "I have copied it" }).click();
  await page.getByText('<b onclick="globalThis.harmed=1">shop</b>').waitFor();
  await looks(page, "webhooks");
  await page.getByRole("link", { name: url }).click();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("Delivered", { exact: true }).first().waitFor();
  await looks(page, "webhook-test");
  await page.keyboard.press("Escape");
  assert.equal(received.length, 1);

  await page.getByRole("button", { name: "Rotate the secret" }).click();
  await page.getByRole("dialog").getByText("For a day, messages are signed with the old one too").waitFor();
  await looks(page, "webhook-rotate");
  await page.getByRole("button", { name: "Make a new secret" }).click();
  const second = await shown.locator("code").textContent();
  assert.match(second, /^whsec_/);
  assert.notEqual(second, first);
  await shown.getByRole("button", { name: "I have copied it" }).click();
  assert.equal(await page.getByText("whsec_").count(), 0);

  const here = page.url();
  await pay(page, { amount: "5", currency: "EUR", to: "sim:ok", reference: "told" });
  const told = await until(() => received.find(({ body }) => body.type === "settlement.completed" && body.data.reference === "told"));
  // Both secrets sign during the rotation.
  assert.equal(told.headers["webhook-signature"].split(" ").length, 2);
  await page.getByRole("table", { name: "Webhook deliveries" }).getByText("settlement.completed").waitFor();
  await page.goto(here);
  await page.getByRole("table", { name: "Deliveries" }).getByText("settlement.completed").first().waitFor();
  await looks(page, "webhook");
  await page.getByRole("table", { name: "Deliveries" }).getByRole("link", { name: "settlement.accepted" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Delivery" }).waitFor();
  await page.getByText('"reference": "told"').waitFor();
  await looks(page, "delivery");
  const before = received.length;
  await page.getByRole("button", { name: "Deliver again" }).click();
  await until(() => received.length > before);
  await page.goto(here);
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.locator(".page-title").getByText("Disabled").waitFor();
  await page.getByRole("button", { name: "Enable" }).click();
  await page.locator(".page-title").getByText("Enabled").waitFor();
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByLabel("From").fill("2020-01-01T00:00");
  const sofar = received.length;
  await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
  await page.getByText(/deliveries are queued/).waitFor();
  await until(() => received.length > sofar);
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No webhooks yet").waitFor();
  assert.equal(await page.evaluate(() => globalThis.harmed), undefined);
  fine();
  await context.close();
});

test("keys are listed, live access is asked for, and a revoked key signs out", async () => {
  const { page, context } = await person(browser);
  await enrolled(page, gateway, "Key shop");
  await page.goto(`${gateway.url}/console/keys`);
  await page.getByText("This browser", { exact: true }).waitFor();
  await looks(page, "keys");
  await page.getByRole("button", { name: "Make a live key and ask for access" }).click();
  await page.getByText("Live access is requested").waitFor();
  await page.getByRole("button", { name: "Key shop" }).click();
  await page.getByRole("button", { name: "Use Key shop (live)" }).click();
  await page.getByText("Waiting for approval").waitFor();
  await looks(page, "pending");
  const [, pending] = /(cli_\w+)/.exec(await page.locator("main").textContent());
  gateway.command("clients", "approve", pending);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  // What is no amount is asked about as it is typed; the gateway says what is wrong with it.
  await page.goto(`${gateway.url}/console/settlements/new`);
  await page.getByLabel("Amount").fill("10,50 ");
  await page.getByLabel("To", { exact: true }).fill("msisdn:+254700000001");
  await page.getByRole("button", { name: "Pay" }).click();
  const sure = page.getByRole("dialog", { name: "Pay with real money?" });
  await sure.getByText("10,50").waitFor();
  await sure.getByRole("button", { name: "Pay" }).click();
  await sure.getByRole("alert").getByText("Amount:").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Key shop (live)" }).click();
  await page.getByRole("button", { name: "Use Key shop", exact: true }).click();
  await page.goto(`${gateway.url}/console/keys`);
  await page.getByRole("row").filter({ hasText: "This browser" }).getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByText("you will be signed out").waitFor();
  await looks(page, "key-revoke");
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await context.close();
});

test("a user gets a code with a QR code, limits, and is blocked", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Users' shop");
  await page.goto(`${gateway.url}/console/users`);
  await page.getByText("No users yet").waitFor();
  await looks(page, "users-empty");
  await page.getByRole("button", { name: "New code for a device" }).click();
  await page.getByLabel("User", { exact: true }).fill("<script>ada</script>");
  await page.getByRole("button", { name: "Make a code" }).click();
  await page.getByRole("dialog", { name: "Code for a device of <script>ada</script>" }).waitFor();
  await page.getByRole("img", { name: "QR code that opens the app with the code" }).waitFor();
  await looks(page, "user-code");
  await page.getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("link", { name: "<script>ada</script>" }).click();
  await page.getByText("No device is enrolled.").waitFor();
  await page.getByLabel("Currency").fill("EUR");
  await page.getByLabel("Largest payment").fill("100");
  await page.getByLabel("Approval over").fill("20");
  // What is no number lifts no limit: it is refused, and shown at its field.
  await page.getByLabel("Daily payments").fill("1,000");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Daily payments").getAttribute("aria-invalid"), "true");
  await page.getByLabel("Daily payments").fill("20");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The limits are in force").waitFor();
  await looks(page, "user");
  await page.getByRole("button", { name: "Block" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Block" }).click();
  await page.locator(".page-title").getByText("Blocked").waitFor();
  fine();
  await context.close();
});

test("devices enrol by codes, are listed and revoked; what they measure is summarised", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Phone shop");
  await page.goto(`${gateway.url}/console/users`);
  const devices = [];
  // Fewer than five devices are not shown by themselves.
  for (let n = 1; n <= 5; n += 1) {
    await page.getByRole("button", { name: "New code for a device" }).click();
    await page.getByLabel("User", { exact: true }).fill("bob");
    await page.getByRole("button", { name: "Make a code" }).click();
    const code = await page.locator(".code-large").textContent();
    await page.getByRole("button", { name: "Close" }).last().click();
    const device = await RailgateClient.open({ baseUrl: gateway.url, signer: await generateSigner() });
    await device.enrollDevice(code, { platform: "android", appVersion: "1.2.3", name: `Phone ${n} <i>of Bob</i>` });
    devices.push(device);
  }
  for (const [n, device] of devices.entries()) {
    const measured = { metric: "payment.confirmed", unit: "ms", at: new Date(), app_version: "1.2.3", os: "android 16", network: "wifi" };
    const items = [100, 200].map((value) => ({ ...measured, id: crypto.randomUUID(), value: value * (n + 1), failed: n === 0 }));
    await device.call("POST", "/mobile/quality", { body: { items } });
    await device.close();
  }
  await page.goto(`${gateway.url}/console/users/bob`);
  const row = page.getByRole("row").filter({ hasText: "Phone 3 <i>of Bob</i>" });
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByText("needs a new code").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row.getByText("Revoked").waitFor();
  await looks(page, "user-devices");
  await page.goto(`${gateway.url}/console/quality`);
  await page.getByLabel("Metric").fill("payment.confirmed");
  await page.getByLabel("By").selectOption("os");
  await page.getByRole("row").filter({ hasText: "android" }).getByText("20%").waitFor();
  await looks(page, "quality-measured");
  fine();
  await context.close();
});

test("quality says when nothing was measured", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Measured shop");
  await page.goto(`${gateway.url}/console/quality?metric=payment.confirmed&by=os`);
  await page.getByText("Nothing was measured in this period").waitFor();
  await looks(page, "quality");
  fine();
  await context.close();
});

test("the simulator plays a scenario, moves the clock, fails and funds", async () => {
  const { page, context, fine } = await person(browser);
  await enrolled(page, gateway, "Playing shop");
  await page.goto(`${gateway.url}/console/simulator`);
  await page.getByRole("button", { name: "Play sim:pending", exact: true }).waitFor();
  await looks(page, "simulator");
  await page.getByRole("button", { name: "Stop the clock" }).click();
  await page.getByText("Stopped").waitFor();
  await page.getByRole("button", { name: "Put ahead" }).click();
  await page.getByText("Everything that was due on the way was done").waitFor();
  await page
    .locator(".badge")
    .getByText(/ahead$/)
    .waitFor();
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByText("The money is in the account").waitFor();
  await page.getByLabel("Delay of each call in ms").fill("5");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The faults are in force").waitFor();
  await page.getByRole("button", { name: "Start again" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Start again" }).click();
  await page.getByText("The sandbox starts again").waitFor();
  await page.getByRole("button", { name: "Play sim:decline-recipient_not_found" }).click();
  await page.locator(".page-title").getByText("Failed").waitFor();
  fine();
  await context.close();
});
