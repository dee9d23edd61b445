// How soon the console is of use: prints figures of this machine's Chromium with its CPU throttled four times. Asserts nothing about them.
// Usage: npm run speed -- http://127.0.0.1:8080, the address of a running server.
import { Browser, freshProfile } from "../../../bindings-wasm/npm/test/browser/chromium.js";

const [base = "http://127.0.0.1:8080"] = process.argv.slice(2);
const THROTTLED = 4;
const ROUNDS = 5;

/** From the start of the navigation until `selector` is there and the page answers input. */
async function interactive(context, selector) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await session.send("Emulation.setCPUThrottlingRate", { rate: THROTTLED });
  await page.goto(`${base}/console`, { waitUntil: "commit" });
  await page.locator(selector).first().waitFor();
  const ms = await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(performance.now()), 0))),
  );
  await page.close();
  return Math.round(ms);
}

async function report(context, name, selector) {
  const all = [];
  for (let n = 0; n < ROUNDS; n += 1) all.push(await interactive(context, selector));
  const median = all.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
  console.log(`${name}: interactive after ${median} ms, the median of ${all.join(", ")}`);
}

const profile = await freshProfile();
const browser = await Browser.start(profile.folder);
try {
  const context = await browser.person();
  await report(context, "signing in", "main form");
  const page = await context.newPage();
  await page.goto(`${base}/console`);
  await page.locator("input").first().fill("Speed");
  await page.locator("form button[type=submit]").first().click();
  await page.getByRole("dialog").waitFor();
  await page.close();
  await report(context, "signed in", "nav a");
} finally {
  await browser.kill();
  await profile.remove();
}
