#!/usr/bin/env node
// A railgate adapter in one file: replace `operator` by calls to yours. Node 20, no packages.
//
//   ADAPTER_JWKS=https://gateway.example/.well-known/jwks.json ADAPTER_URL=https://adapter.example node adapter.mjs
import { createHash, createHmac, createPublicKey, randomUUID, timingSafeEqual, verify as verifies } from "node:crypto";
import { existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { createServer } from "node:http";

// Knows nobody whose number ends with 404, and needs a second to pay numbers that end with 202.
const operator = {
  done: new Map(),
  // Pays, or gives back; `accepted` if in doubt. Called again with the same key after a crash: must not act twice.
  async act(key, payee, body) {
    if (payee.endsWith("404")) return { status: "declined", code: "recipient_not_found", rail_code: "404" };
    this.done.set(key, { status: "completed", rail_reference: `OP-${key}` });
    return payee.endsWith("202") && body.to ? { status: "accepted", rail_reference: `OP-${key}` } : this.done.get(key);
  },
  // What became of it; undefined if it is not known, so that `act` is called again.
  ask: async (key) => operator.done.get(key),
};
const env = (name, standard) => process.env[`ADAPTER_${name}`] ?? standard;
const [listen, jwks, token, signs] = [env("LISTEN", "127.0.0.1:8100"), env("JWKS"), env("TOKEN"), env("CALLBACK_SECRET")];
if (!jwks) throw new Error("ADAPTER_JWKS must be the address of the gateway's keys");
let [mode, store, url] = [env("MODE", "sandbox"), env("STORE", "adapter.jsonl"), env("URL")];

// What was taken, by key: each change is a line of the file, on the disk before anything leaves.
const taken = new Map();
const lines = existsSync(store) ? readFileSync(store, "utf8").split("\n") : [];
for (const line of lines.filter((line) => line.endsWith("}"))) taken.set(JSON.parse(line).key, JSON.parse(line));
const file = openSync(store, "a");
function save(row) {
  writeSync(file, `\n${JSON.stringify(row)}`);
  fsyncSync(file);
  return taken.set(row.key, row).get(row.key);
}

const refused = (status, body) => Object.assign(new Error(), { status, body });
// Amounts are texts, compared as whole numbers of the smallest decimal that a text may have.
function units(amount) {
  const [, whole, decimals = ""] = /^(\d{1,15})(?:\.(\d{1,4}))?$/.exec(amount) ?? [];
  if (whole === undefined) throw refused(400, { error: "the amount is not a decimal" });
  return BigInt(whole + decimals.padEnd(4, "0"));
}

async function act(row, asks) {
  const payee = (row.payment ? taken.get(row.payment) : row).body.to;
  const said = (asks && (await operator.ask(row.key))) || (await operator.act(row.key, payee, row.body));
  return save({ ...row, answer: { ...row.answer, ...said } });
}

async function take(payment, key, { callback_url: reports, ...body }) {
  // No `await` between the look and the line: two requests at the same time are one.
  const [known, sorted] = [taken.get(key), (body) => JSON.stringify(Object.entries(body).sort())];
  const isSame = known?.payment === payment && sorted(known.body) === sorted(body);
  if (known && !isSame) throw refused(409, { error: "this key was taken with another body" });
  if (known) return known.answer;
  const code = refusal(payment, body);
  const names = { ...(payment ? { payment, reversal: key } : { payment: key }), amount: body.amount, currency: body.currency };
  const answer = { ...names, ...(code ? { status: "declined", code } : { status: "accepted" }) };
  let row = save({ key, payment, body, reports, answer });
  if (!code) row = await act(row);
  if (row.answer.status === "accepted") setTimeout(finish, 1_000, row);
  return row.answer;
}

function refusal(payment, body) {
  if (units(body.amount) <= 0n || (!payment && body.mode !== mode)) return "not_allowed";
  if (!payment) return undefined;
  const paid = taken.get(payment);
  if (paid?.answer.status !== "completed" || paid.body.currency !== body.currency) return "not_allowed";
  const others = [...taken.values()].filter((row) => row.payment === payment && row.answer.status !== "declined");
  const back = others.reduce((sum, row) => sum + units(row.body.amount), units(body.amount));
  return back > units(paid.body.amount) ? "over_limit" : undefined;
}

async function finish(row) {
  const { reports, answer, key } = await act(row, true);
  if (answer.status === "accepted") return setTimeout(finish, 30_000, taken.get(key));
  if (!reports || !signs) return; // the gateway will ask
  const [id, at, body] = [`cb_${randomUUID()}`, Math.floor(Date.now() / 1_000), JSON.stringify(answer)];
  const secret = Buffer.from(signs.replace(/^whsec_/, ""), "base64");
  const mac = createHmac("sha256", secret).update(`${id}.${at}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": `${at}`, "webhook-signature": `v1,${mac}`, "content-type": "application/json" };
  const sent = await fetch(reports, { method: "POST", headers, body, signal: AbortSignal.timeout(15_000) }).catch((error) => error);
  if (!sent.ok) console.error(`the callback about ${key} was not taken: ${sent.status ?? sent}`);
}

let [keys, fetched] = [{}, 0];
async function keyOf(kid) {
  if (!keys[kid] && Date.now() > fetched + 1_000) {
    fetched = Date.now();
    const set = await (await fetch(jwks, { signal: AbortSignal.timeout(5_000) })).json();
    keys = Object.fromEntries(set.keys.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: "jwk" })]));
  }
  return keys[kid];
}

// Whether the gateway sent it.
async function verify(method, path, headers, body) {
  const hash = (text) => createHash("sha256").update(text).digest();
  const wrong = (error) => refused(401, { error });
  if (token && !timingSafeEqual(hash(headers.authorization ?? ""), hash(`Bearer ${token}`))) throw wrong("the token is wrong");
  const [, signed, list] = /^sig1=(\((.*?)\);.*)$/.exec(headers["signature-input"] ?? "") ?? [];
  if (!signed) throw wrong("there is no signature");
  const covered = [...list.matchAll(/"([^"]+)"/g)].map((found) => found[1]);
  const params = Object.fromEntries([...signed.matchAll(/;(\w+)="?([^";]*)/g)].map((found) => found.slice(1)));
  const wanted = ["@method", "@target-uri", ...["authorization", "content-type", "content-digest"].filter((name) => headers[name])];
  const digest = `sha-256=:${hash(body).toString("base64")}:`;
  const isWhole = wanted.every((name) => covered.includes(name)) && (!body.length || headers["content-digest"] === digest);
  const isOurs = params.tag === "railgate-rail" && params.alg === "ecdsa-p256-sha256";
  const isRecent = Math.abs(Date.now() / 1_000 - Number(params.created)) <= 300;
  if (!isWhole || !isOurs || !isRecent) throw wrong("the signature covers too little, or is for another body, purpose or time");
  const values = { ...headers, "@method": method, "@target-uri": url + path };
  const base = [...covered.map((name) => `"${name}": ${values[name]}`), `"@signature-params": ${signed}`].join("\n");
  const raw = Buffer.from(/^sig1=:([^:]+):$/.exec(headers.signature ?? "")?.[1] ?? "", "base64");
  const key = await keyOf(params.keyid);
  if (!key || !verifies("sha256", Buffer.from(base), { key, dsaEncoding: "ieee-p1363" }, raw)) throw wrong("it is not the gateway's");
}

async function answer(method, path, headers, body) {
  await verify(method, path, headers, body);
  const given = body.length ? JSON.parse(body) : {};
  if (`${method} ${path}` === "GET /railgate/v1/health") return { status: "up", verifies_signatures: true };
  if (`${method} ${path}` === "POST /railgate/v1/payees") {
    return given.to.endsWith("404") ? { match: "no_match" } : { match: "match", display_name: "Jane W." };
  }
  const [, first, second] = /^\/railgate\/v1\/payments\/([\w-]{1,64})(?:\/reversals\/([\w-]{1,64}))?$/.exec(path) ?? [];
  if (!first || !["GET", "PUT"].includes(method)) throw refused(404, { error: "there is no such endpoint" });
  const [payment, key] = second ? [first, second] : [null, first];
  if (method === "PUT") return take(payment, key, given);
  if (taken.get(key)?.payment !== payment) throw refused(404, { authoritative: true });
  return taken.get(key).answer;
}

const server = createServer(async (request, response) => {
  let [status, said] = [200, null];
  try {
    said = await answer(request.method, request.url, request.headers, Buffer.concat(await request.toArray()));
  } catch (error) {
    [status, said] = [error.status ?? (error instanceof SyntaxError ? 400 : 500), error.body ?? { error: String(error) }];
  }
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(said));
});
const [host, port] = listen.split(/:(?=\d+$)/);
server.listen(Number(port), host, () => {
  url ||= `http://${host}:${server.address().port}`;
  console.log(`listening on ${url}`);
  for (const row of taken.values()) if (row.answer.status === "accepted") finish(row); // open when the last run ended
});
