// Tests the modules below the package: given any arguments, they return or throw a problem, and keep working. Runs
// in Node and Chromium, so it makes no assertions but returns the faults.

const NOW = 1_795_257_500_000;
const CHALLENGE = '{"challenge":"c1.a.b","expires_in":300}';
const PATIENCE = [5, 30_000, 0, 250, 20_000, 0, 0];
const JWK =
  '{"crv":"P-256","kty":"EC","x":"b_A7lJJBzh2t1DUZ5pYOCoW0GmmgXDKBA6orzhWUyhY","y":"PE91OlW_AdxT9sCwx-7ni0DG_30lqW4igrmJzvccFEo"}';
const JWKS = `{"keys":[${JWK}]}`;
const JWS = [
  "eyJhbGciOiJFUzI1NiIsImtpZCI6Ik5ycWczLU1fWHd0eC0xdGJ0YzFKN1h1bDJEeWVDMGJVU3k5dV81TlNHNmciLCJ0eXAiOiJzZXR0bGVtZW50LXJlY2VpcHQrand0In0",
  "e30",
  "A".repeat(86),
].join(".");

/** For each type, values that must not be accepted. */
const NOT = {
  string: [undefined, null, 0, 1, true, {}, [], ["a"], 10n, Symbol("s"), () => "a", new String("a"), new Uint8Array(2)],
  bytes: [undefined, null, 0, "abc", {}, [1, 2, 3], new ArrayBuffer(4), new Uint16Array(2), new DataView(new ArrayBuffer(4)), true],
  strings: [undefined, null, 0, "a", {}, [1], ["a", null], { 0: "a", length: 1 }, new Uint8Array(2), true],
  millis: [undefined, null, "1", Number.NaN, Number.POSITIVE_INFINITY, -1e300, 1.5, 2 ** 60, 10n, {}, new Date(), true],
  count: [undefined, null, "1", Number.NaN, Number.POSITIVE_INFINITY, -1, 1.5, 2 ** 60, 10n, {}, true],
  counts: [undefined, null, 5, "a", {}, [], [1], [...PATIENCE, 1], PATIENCE.with(2, -1), PATIENCE.with(6, "a"), true],
  flag: [undefined, null, 0, 1, "true", "", {}, new Boolean(true)],
};
/** `values` without those that are valid for an optional argument. */
const without = (values, ...taken) => values.filter((value) => !taken.includes(value));
NOT.stringOrUndefined = without(NOT.string, undefined);
NOT.stringOrNone = without(NOT.string, undefined, null);
NOT.countOrNone = without(NOT.count, undefined, null);
NOT.bytesOrNone = without(NOT.bytes, undefined, null);

/** Each call: a name, a function of its arguments, and for each argument its name, a valid value and its type. */
function calls({ receipt, log, sheet, webhook, forms, qr, client, gateway }) {
  const one = new client.Session("https://pay.example", "sandbox", JWK);
  const exchange = new client.Exchange("POST", "/api/v1/x", [], "{}", true, undefined, PATIENCE);
  const gate = gateway.Gateway.open("{}", new Uint8Array(32), NOW);
  const check = new receipt.ReceiptCheck(JWS, JWKS);
  const webhooks = new webhook.WebhookVerifier(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]);
  const now = ["now_ms", NOW, "millis"];
  const random = ["random", new Uint8Array(48), "bytes"];
  return [
    ["check_settlement", (...a) => forms.check_settlement(...a), [["body", "{}", "string"], now]],
    [
      "qr_svg",
      (...a) => qr.qr_svg(...a),
      [
        ["text", "a", "string"],
        ["title", "b", "stringOrNone"],
        ["level", "M", "stringOrNone"],
        ["margin", 1, "countOrNone"],
        ["size", 200, "countOrNone"],
      ],
    ],
    [
      "verify_log_proof",
      (...a) => log.verify_log_proof(...a),
      [
        ["proof", "a", "string"],
        ["event_hash", "a", "string"],
        ["keys", "a", "string"],
      ],
    ],
    ["verify_trace", (...a) => log.verify_trace(...a), [["events", "[]", "string"]]],
    ["qr_matrix", (...a) => qr.qr_matrix(...a), [["text", "a", "string"]]],
    [
      "ReceiptCheck",
      (...a) => new receipt.ReceiptCheck(...a).free(),
      [
        ["jws", JWS, "string"],
        ["jwks", JWKS, "string"],
      ],
    ],
    // The claims are invalid, so even the right argument throws, but a different problem.
    ["ReceiptCheck.finish", (...a) => check.finish(...a), [["valid", true, "flag"]], "receipt_invalid"],
    [
      "draw_receipt",
      (...a) => sheet.draw_receipt(...a),
      [
        ["form", "text/html", "string"],
        ["parts", ["a", "b"], "strings"],
        ["title", "b", "stringOrNone"],
        ["level", "M", "stringOrNone"],
        ["margin", 1, "countOrNone"],
        ["size", 200, "countOrNone"],
      ],
      "receipt_invalid",
    ],
    [
      "WebhookVerifier",
      (...a) => new webhook.WebhookVerifier(...a).free(),
      [["secrets", ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], "strings"]],
    ],
    [
      "WebhookVerifier.verify",
      (...a) => webhooks.verify(...a),
      [
        ["id", "i", "stringOrNone"],
        ["timestamp", "1795257500", "stringOrNone"],
        ["signature", "v1,AA==", "stringOrNone"],
        ["body", new Uint8Array(3), "bytes"],
        now,
      ],
      "no_matching_signature",
    ],
    [
      "WebhookVerifier.sign",
      (...a) => webhooks.sign(...a),
      [
        ["id", "i", "string"],
        ["seconds", 1_795_257_500, "millis"],
        ["body", new Uint8Array(3), "bytes"],
      ],
    ],
    [
      "Session",
      (...a) => new client.Session(...a).free(),
      [
        ["base", "https://pay.example", "string"],
        ["mode", "live", "string"],
        ["jwk", JWK, "string"],
      ],
    ],
    [
      "Session.enroll_request",
      (...a) => one.enroll_request(...a),
      [
        ["name", "Shop", "string"],
        ["invitation", "inv_1", "stringOrNone"],
      ],
    ],
    ["Session.enroll_live_request", (...a) => one.enroll_live_request(...a), [["jwk", JWK, "string"]]],
    ["Session.restore", (...a) => one.restore(...a), [["snapshot", one.snapshot(), "string"]]],
    [
      "Exchange",
      (...a) => new client.Exchange(...a).free(),
      [
        ["method", "POST", "string"],
        ["path", "/api/v1/x", "string"],
        ["headers", ["accept", "application/json"], "strings"],
        ["body", "{}", "string"],
        ["repeatable", true, "flag"],
        ["new_key", JWK, "stringOrUndefined"],
        ["patience", PATIENCE, "counts"],
      ],
    ],
    ["Exchange.lacks", (...a) => exchange.lacks(one, ...a), [now]],
    ["Exchange.next", (...a) => exchange.next(one, ...a), [now, random]],
    ["Exchange.signed", (...a) => exchange.signed(...a), [["signature", new Uint8Array(64), "bytes"]]],
    [
      "Exchange.answered",
      (...a) => exchange.answered(one, ...a),
      [["status", 200, "count"], ["headers", ["date", "now"], "strings"], ["body", CHALLENGE, "string"], now],
    ],
    ["Exchange.lost", (...a) => exchange.lost(...a), [["sent", true, "flag"], ["garbled", false, "flag"]]],
    [
      "Gateway.open",
      (...a) => gateway.Gateway.open(...a).free(),
      [
        ["options", "{}", "string"],
        ["seed", new Uint8Array(32), "bytes"],
        now,
        ["snapshot", undefined, "bytesOrNone"],
        ["journal", undefined, "bytesOrNone"],
      ],
    ],
    ["Gateway.call", (...a) => gate.call(...a), [now, ["request", '{"call":"balances"}', "string"]]],
    ["Gateway.work", (...a) => gate.work(...a), [now]],
  ];
}

/** The problem that a call threw, or why it is not a problem; undefined if it threw nothing. */
function problem(call) {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) return { broken: String(error) };
    try {
      return JSON.parse(error.message);
    } catch {
      return { broken: String(error) };
    }
  }
}

function wrongArguments(modules, wrong) {
  let tried = 0;
  for (const [name, call, parameters, refusal] of calls(modules)) {
    const good = parameters.map(([, value]) => value);
    const works = () => {
      const told = problem(() => call(...good));
      if (told?.code !== refusal) wrong.push(`${name} with good arguments: ${JSON.stringify(told)}`);
    };
    works();
    for (const [at, [parameter, , kind]] of parameters.entries()) {
      for (const value of NOT[kind]) {
        tried += 1;
        const told = problem(() => call(...good.with(at, value)));
        if (told?.code !== "malformed_request" || told.errors?.[0]?.pointer !== `/${parameter}`) {
          wrong.push(`${name}: ${parameter} = ${typeof value} ${String(value)}: ${JSON.stringify(told)}`);
        }
      }
    }
    works();
  }
  return tried;
}

/** Texts of the right type with invalid contents. */
const STRANGE = [
  "",
  "\0",
  "\ud800",
  "{",
  "[[[[",
  '{"call":1}',
  '{"call":"get"}',
  "null",
  "9".repeat(400),
  `"${"\\u0000".repeat(99)}"`,
  "é".repeat(3e6),
  "[".repeat(1e5),
];

function strangeTexts(modules, wrong) {
  let tried = 0;
  for (const [name, call, parameters] of calls(modules)) {
    for (const [at, [, , kind]] of parameters.entries()) {
      if (!kind.startsWith("string")) continue;
      for (const value of STRANGE) {
        tried += 1;
        const told = problem(() => call(...parameters.map(([, value]) => value).with(at, value)));
        if (told?.broken !== undefined) wrong.push(`${name}: ${value.slice(0, 20)}: ${told.broken}`);
      }
    }
  }
  return tried;
}

/** A journal is refused if anything in it was altered, cut or left out. */
function brokenJournals({ gateway: { Gateway } }, wrong) {
  const seed = new Uint8Array(32);
  const first = Gateway.open("{}", seed, NOW);
  const entries = [first.take_journal()];
  for (const n of [1, 2, 3]) {
    first.call(NOW, `{"call":"create","body":{"amount":${n}.50,"currency":"EUR","to":"sim:ok","reference":"inv-${n}"}}`);
    first.work(NOW + n);
    entries.push(first.take_journal());
  }
  const balances = '{"call":"balances"}';
  const wanted = first.call(NOW + 9, balances);
  const snapshot = first.snapshot();
  const join = (parts) => new Uint8Array(parts.flatMap((part) => [...part]));
  const whole = join(entries);
  const reopened = (snapshot, journal) => {
    const again = Gateway.open("{}", seed, NOW + 9, snapshot, journal);
    const answer = again.call(NOW + 9, balances);
    again.free();
    return answer;
  };
  if (reopened(undefined, whole) !== wanted) wrong.push("a journal restores something else");
  if (reopened(snapshot, undefined) !== wanted) wrong.push("a snapshot restores something else");
  if (reopened(snapshot, whole) !== wanted) wrong.push("a snapshot and its own journal restore something else");

  const refused = (what, snapshot, journal) => {
    const told = problem(() => reopened(snapshot, journal));
    if (!["journal_corrupt", "journal_version"].includes(told?.code)) wrong.push(`${what}: ${JSON.stringify(told)}`);
  };
  const flipped = (bytes, at) => bytes.with(at, bytes[at] ^ 0x10);
  let tried = 0;
  for (let at = 0; at < whole.length; at += 7, tried += 1) refused(`byte ${at} of the journal`, undefined, flipped(whole, at));
  for (let at = 0; at < snapshot.length; at += 7, tried += 1) refused(`byte ${at} of the snapshot`, flipped(snapshot, at));
  for (let end = 1; end < snapshot.length; end += 61, tried += 1) refused(`a snapshot of ${end} bytes`, snapshot.slice(0, end));
  const ends = new Set(entries.map((_, n) => join(entries.slice(0, n + 1)).length));
  for (let end = 1; end < whole.length; end += 61, tried += 1) {
    if (!ends.has(end)) refused(`a journal of ${end} bytes`, undefined, whole.slice(0, end));
  }
  refused("a journal without its first entry", undefined, join(entries.slice(1)));
  refused("a journal without one in the middle", undefined, join(entries.toSpliced(2, 1)));
  refused("a journal with an entry twice", undefined, join([...entries, entries.at(-1)]));
  first.free();
  return tried + 3;
}

/** Freed objects cannot be used. */
function freed({ qr, client, gateway, receipt }, wrong) {
  const objects = [
    [gateway.Gateway.open("{}", new Uint8Array(32), NOW), (it) => it.work(NOW)],
    [new client.Session("https://pay.example", "live", JWK), (it) => it.base()],
    [new receipt.ReceiptCheck(JWS, JWKS), (it) => it.jwk()],
  ];
  for (const [object, use] of objects) {
    object.free();
    const told = problem(() => use(object));
    if (told === undefined || /RuntimeError/.test(told.broken)) wrong.push(`used after free: ${JSON.stringify(told)}`);
  }
  if (qr.qr_matrix("a").length !== 29 * 29) wrong.push("the matrix of a small code");
  return objects.length;
}

/** Returns the number of checks and the faults. */
export function tryAll(modules) {
  const wrong = [];
  const tried = [wrongArguments, strangeTexts, brokenJournals, freed].map((part) => part(modules, wrong));
  return { tried, wrong };
}
