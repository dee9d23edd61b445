// What a call without a response is told as.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import test from "node:test";
import { ConnectionError, RailgateClient, generateSigner } from "railgate/client";
import { failed } from "../../dist/client/network.js";

const PATIENCE = { attempts: 2, pauseMs: 1 };

/** A client of that address, with the error of its first call. */
async function failing(t, baseUrl, options = {}) {
  const client = await RailgateClient.open({ baseUrl, signer: await generateSigner(), patience: { ...PATIENCE, ...options } });
  t.after(() => client.close());
  return client.create({ amount: "1.00", currency: "EUR", to: "sim:ok", reference: "inv-1" }).catch((error) => error);
}

/** A server on a free port, with its address. */
async function listening(t, connected) {
  const server = createServer(connected);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => new Promise((resolve) => server.close(resolve));
  t.after(() => (server.listening ? close() : undefined));
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

test("where nothing listens, nothing was sent, and the error says where", async (t) => {
  const server = await listening(t);
  await server.close();
  const error = await failing(t, server.url);
  assert.ok(error instanceof ConnectionError);
  assert.deepEqual([error.reason, error.notSent, error.retryable], ["refused", true, true]);
  assert.equal(error.url, `${server.url}/api/v1/auth/challenges`);
  const said = "nothing listens at that address (connection refused); nothing was sent";
  assert.equal(error.message, `POST ${error.url}: ${said}`);
});

test("a host without an address is told apart", async (t) => {
  const error = await failing(t, "http://nobody.invalid");
  assert.deepEqual([error.reason, error.notSent], ["unknown_host", true]);
});

test("a connection that breaks before the call itself left: it was not executed", async (t) => {
  const { url } = await listening(t, (socket) => socket.on("data", () => socket.resetAndDestroy()));
  const error = await failing(t, url);
  assert.deepEqual([error.reason, error.notSent], ["broken", true], "only challenges were asked for");
});

test("silence is a timeout", async (t) => {
  const { url } = await listening(t, (socket) => socket.resume());
  const error = await failing(t, url, { attempts: 1, timeoutMs: 50 });
  assert.equal(error.reason, "timeout");
  assert.match(error.message, /there was no response in time/);
});

test("the address of the API is understood", async (t) => {
  const client = await RailgateClient.open({ baseUrl: "https://pay.example.com/api/v1", signer: await generateSigner(), fetch: () => Promise.reject(new TypeError("x")), patience: PATIENCE });
  t.after(() => client.close());
  const { url } = await client.balances().catch((error) => error);
  assert.equal(url, "https://pay.example.com/api/v1/auth/challenges");
});

test("every runtime's way to say it", () => {
  const address = "https://pay.example.com/api/v1/balances";
  const node = (code, more = {}) => Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error(code), { code, ...more }) });
  const both = new AggregateError([Object.assign(new Error("a"), { code: "ECONNREFUSED", syscall: "connect" }), Object.assign(new Error("b"), { code: "ECONNREFUSED", syscall: "connect" })]);
  const deno = (text) => new TypeError(`error sending request for url (${address}): ${text}`);
  for (const [error, reason, notSent] of [
    [node("ECONNREFUSED", { syscall: "connect" }), "refused", true],
    [Object.assign(new TypeError("fetch failed"), { cause: both }), "refused", true],
    [node("ENOTFOUND", { syscall: "getaddrinfo" }), "unknown_host", true],
    [node("EHOSTUNREACH", { syscall: "connect" }), "unreachable", true],
    [node("EHOSTUNREACH", { syscall: "read" }), "unreachable", false],
    [node("UND_ERR_CONNECT_TIMEOUT"), "timeout", true],
    [node("UND_ERR_HEADERS_TIMEOUT"), "broken", false],
    [node("ECONNRESET", { syscall: "read" }), "broken", false],
    [node("DEPTH_ZERO_SELF_SIGNED_CERT"), "certificate", true],
    [node("ERR_TLS_CERT_ALTNAME_INVALID"), "certificate", true],
    [Object.assign(new Error("Unable to connect"), { code: "ConnectionRefused" }), "refused", true],
    [deno("client error (Connect): tcp connect error: Connection refused (os error 111)"), "refused", true],
    [deno("client error (Connect): dns error: failed to lookup address information"), "unknown_host", true],
    [deno("client error (Connect): invalid peer certificate: UnknownIssuer"), "certificate", true],
    [deno("connection closed before message completed"), "broken", false],
    [new TypeError("Failed to fetch"), "unknown", false],
    [undefined, "unknown", false],
  ]) {
    const told = failed(error, address, false);
    assert.deepEqual([told.reason, told.notSent], [reason, notSent], String(error?.cause ?? error));
  }
  assert.equal(failed(node("ECONNREFUSED"), address, true).reason, "timeout");
});

test("in a page, what the browser may have refused", (t) => {
  t.after(() => delete globalThis.location);
  const told = (page, address) => {
    Object.defineProperty(globalThis, "location", { value: { origin: page }, configurable: true });
    return failed(new TypeError("Failed to fetch"), address, false);
  };
  const cross = told("https://shop.example", "https://pay.example.com/api/v1/balances");
  assert.deepEqual([cross.reason, cross.notSent], ["blocked", false]);
  assert.match(cross.said, /--cors-origin https:\/\/shop\.example\)/);
  assert.match(told("https://shop.example", "http://pay.example.com/").said, /a page of https may not call http:\/\/pay\.example\.com/);
  assert.equal(told("https://shop.example", "https://shop.example/api/v1/balances").reason, "unknown");
});
