// Operators in browsers of their own, and clients who give them something to decide about.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { RailgateClient, generateSigner } from "../../../bindings-wasm/npm/dist/client.js";
import { person } from "./console.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Signs in with an invitation. */
export async function signIn(page, gateway, code) {
  await page.goto(`${gateway.url}/console`);
  const form = page.getByRole("region", { name: "Operator with an invitation" });
  await form.getByLabel("Invitation code").fill(code);
  await form.getByRole("button", { name: "Make a key and sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
}

/** An operator whom the command line invited, in a browser of their own. */
export async function operator(browser, gateway, name, role, options = {}) {
  const one = await person(browser, options);
  await signIn(one.page, gateway, gateway.invite(name, role));
  return one;
}

/** A sandbox client that calls from here. */
export async function shop(gateway, name) {
  const client = await RailgateClient.open({ baseUrl: gateway.url, signer: await generateSigner() });
  await client.enroll(name);
  return client;
}

/** A key of the client for real money, which waits for approval; a client that uses it once it is approved. */
export async function live(gateway, client) {
  const signer = await generateSigner();
  await client.enrollLive(signer);
  return RailgateClient.open({ baseUrl: gateway.url, signer, environment: "live" });
}

/** Payments whose outcome nobody knows after a day: each waits for a person. */
export async function stuck(client, payments) {
  for (const payment of payments) {
    await client.create({ currency: "EUR", to: "sim:timeout-never", ...payment });
    for (let { status, version } = await client.status(payment.reference); status !== "unknown"; ) {
      const params = { ref: payment.reference };
      ({ status, version } = await client.call("GET", "/gateway/settlements/{ref}/status", { params, query: { wait: 30, version } }));
    }
  }
  await client.setClock({ advance_ms: 26 * 3_600_000 });
  for (let clock = await client.clock(); clock.advancing_to !== undefined; ) clock = await client.clock();
}

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const TOKEN = "let-me-in";

/** The adapter of the documentation, which calls itself an operator, for the specs of a file; its address. */
export async function adapter(gateway) {
  const child = spawn("node", [here("../../../docs/rails/adapters/adapter.mjs")], {
    cwd: process.env.RAILGATE_TEST_FOLDER,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      ADAPTER_LISTEN: "127.0.0.1:0",
      ADAPTER_JWKS: `${gateway.url}/.well-known/jwks.json`,
      ADAPTER_TOKEN: TOKEN,
      ADAPTER_CALLBACK_SECRET: SECRET,
    },
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  after(kill);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return line.replace("listening on ", "");
}

/** A bundle that describes the adapter. */
export const bundleOf = (url, more = {}) => ({
  manifest: {
    id: "acme",
    version: "1.0.0",
    name: "Acme Pay",
    rail: "adapter",
    namespaces: ["msisdn"],
    currencies: ["KES"],
    countries: ["KE"],
    settings: { payees: "yes", reversals: "partial", inquiry: "authoritative" },
    capabilities: { check_payee: true, reverse: true, partial_reverse: true, inquiry: true },
    limits: { KES: { min: "10", max: "150000" } },
    contacts: [{ role: "technical", name: "Ada Acme", email: "integration@acme.example" }],
    sandbox: {
      base_url: url,
      test: {
        to: "msisdn:+254700000001",
        unknown_to: "msisdn:+254700000404",
        later_to: "msisdn:+254700000202",
        amount: "100.00",
        currency: "KES",
      },
    },
    live: { base_url: "https://api.acme.example/railgate" },
    ...more,
  },
  secrets: { sandbox: { token: TOKEN, callback_secret: SECRET }, live: { token: TOKEN, callback_secret: SECRET } },
  documents: [{ name: "licence.txt", content: Buffer.from("Licence no. 4711 of the central bank\n").toString("base64") }],
});

/** Gives the reason in the dialog that is open, does the act, and waits until the dialog is gone. */
export async function reasoned(page, act, reason) {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill(reason);
  await dialog.getByRole("button", { name: act, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

/** The other operator confirms what waits about the page of the first, who sees by themselves that it is done. */
export async function confirmed(page, other, gateway) {
  const link = page.getByRole("link", { name: "Look at the request" });
  await other.goto(new URL(await link.getAttribute("href"), gateway.url).href);
  await other.getByRole("button", { name: "Confirm" }).click();
  await other.getByRole("dialog").getByRole("button", { name: "Confirm" }).click();
  await other.locator(".page-title").getByText("Confirmed").waitFor();
  await link.waitFor({ state: "detached" });
}

/** Replaces a provider behind everybody's back, by the command line over the store. */
export async function replaced(gateway, provider) {
  const file = join(process.env.RAILGATE_TEST_FOLDER, `${provider.id}.json`);
  await writeFile(file, JSON.stringify(provider));
  gateway.command("providers", "apply", file, "--yes", "--master-keys", join(process.env.RAILGATE_TEST_FOLDER, "master.keys"));
}
