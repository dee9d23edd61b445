// A complete payment gateway in a tab, which draws events as they happen.

import { RailgateError, Sandbox } from "railgate";

import { timeline, tone, words } from "./timeline.js";

const $ = (id) => document.getElementById(id);
const form = $("pay");
const FIELDS = ["to", "amount", "currency", "reference"];

/** Makes an element from its name and classes, its properties and its children. */
function make(name, properties = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = Object.assign(document.createElement(tag), properties);
  if (classes.length > 0) element.className = classes.join(" ");
  element.append(...children);
  return element;
}

/** Formats an amount for people, from its text: it never becomes a number. */
const money = (amount, currency) => new Intl.NumberFormat(undefined, { style: "currency", currency }).format(amount);

function trouble(error) {
  if (error instanceof RailgateError && error.code === "disposed") return;
  $("trouble").textContent = error.message;
  $("trouble").hidden = false;
}

const sandbox = await Sandbox.open({ name: "example" }).catch((error) => {
  trouble(error);
  throw error;
});
let selected = decodeURIComponent(location.hash.slice(1)) || undefined;

// ---- The form, checked by the gateway itself while it is filled in.

const nextReference = () => `inv-${Date.now().toString(36)}`;

function request() {
  return Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value]));
}

function showProblems(problems) {
  for (const name of FIELDS) {
    const problem = problems.find(({ pointer }) => pointer === `/${name}`);
    $(`${name}-help`).textContent = problem === undefined ? "" : `It ${problem.message}`;
    form.elements[name].setAttribute("aria-invalid", problem === undefined ? "false" : "true");
  }
}

const PAYEE = { close_match: "The name is nearly that of the account", no_match: "The name is not that of the account" };

let checks = 0;
async function check() {
  checks += 1;
  const asked = checks;
  const { problems, quote, payee } = await sandbox.check(request());
  if (asked !== checks) return;
  showProblems(problems);
  const { currency } = request();
  const elsewhere = problems.filter(({ pointer }) => !FIELDS.includes(pointer.slice(1))).map(({ message }) => message);
  const said = [...elsewhere];
  if (quote !== null)
    said.push(`${money(quote.total_debit, currency)} in all, ${money(quote.fee, currency)} of it the fee, through ${quote.provider}.`);
  if (PAYEE[payee.match] !== undefined) said.push(`${PAYEE[payee.match]}${payee.display_name ? `: ${payee.display_name}` : ""}.`);
  $("quote").textContent = said.join(" ");
}

form.addEventListener("input", () => check().catch(trouble));
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const { settlement } = await sandbox.create(request());
    form.elements.reference.value = nextReference();
    select(settlement.reference);
    await check();
  } catch (error) {
    if (!(error instanceof RailgateError)) return trouble(error);
    showProblems(error.errors);
    $("quote").textContent = error.errors.length > 0 ? "" : error.message;
    form.querySelector('[aria-invalid="true"]')?.focus();
  }
});

// ---- The clock runs by itself; the sandbox returns how far it is ahead.

let ahead = 0;
function showClock() {
  $("clock").textContent = new Date(Date.now() + ahead).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
setInterval(showClock, 1000);

// ---- The lists, read from the sandbox whenever it reports an event.

function pill(status) {
  return make(`span.pill.${tone(status)}`, {}, words(status));
}

function select(reference) {
  selected = reference;
  history.replaceState(null, "", `#${encodeURIComponent(reference)}`);
  refresh();
}

function showPayments(settlements) {
  const list = make("ul.list");
  for (const { reference, to, amount, currency, status } of settlements) {
    const button = make(
      "button",
      { type: "button", onclick: () => select(reference) },
      make("span.who-to", {}, make("strong", {}, to), make("small", {}, reference)),
      make("span.sum", {}, money(amount, currency), pill(status)),
    );
    if (reference === selected) button.setAttribute("aria-current", "true");
    button.dataset.reference = reference;
    list.append(make("li", {}, button));
  }
  const focused = document.activeElement?.dataset?.reference;
  $("payments").replaceChildren(...(settlements.length > 0 ? [list] : nothingYet()));
  if (focused !== undefined) list.querySelector(`[data-reference="${CSS.escape(focused)}"]`)?.focus();
}

/** Some of the simulator's scenarios that are worth seeing. */
const SHOW = ["sim:ok", "sim:decline-account_closed", "sim:slow-30s", "sim:timeout-then-ok", "sim:failover"];

function nothingYet() {
  const play = async () => {
    for (const [i, to] of SHOW.entries()) await sandbox.create({ amount: `${12 + i}.50`, currency: "EUR", to, reference: `show-${i + 1}` });
    select(`show-${SHOW.length}`);
  };
  return [
    make("p.empty", {}, "None yet. Make a payment: each of the simulator's payees behaves differently."),
    make("div.actions", {}, make("button", { type: "button", onclick: () => play().catch(trouble) }, `Pay ${SHOW.length} of them`)),
  ];
}

function facts(settlement) {
  const { amount, fee, currency, provider, attempts, reversed_amount, failure, rail_reference } = settlement;
  const rows = { Amount: money(amount, currency), Fee: money(fee, currency), Provider: provider, Attempts: String(attempts) };
  if (rail_reference !== null) rows["The provider's reference"] = rail_reference;
  if (Number(reversed_amount) > 0) rows["Given back"] = money(reversed_amount, currency);
  if (failure !== null) rows.Reason = `${failure.message} (${failure.iso_reason})`;
  return make("dl.facts", {}, ...Object.entries(rows).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

function actions(settlement) {
  const { reference, status } = settlement;
  const act = (label, run) => make("button", { type: "button", onclick: () => run().catch(trouble) }, label);
  const buttons = [];
  if (["completed", "partially_reversed"].includes(status)) {
    buttons.push(act("Give 1.00 back", () => sandbox.reverse(reference, { amount: "1.00", reason: "customer_request" })));
    buttons.push(act("Give all of it back", () => sandbox.reverse(reference)));
  }
  if (["completed", "partially_reversed", "reversed", "returned"].includes(status))
    buttons.push(act("Receipt", () => showReceipt(reference)));
  if (["submitted", "unknown"].includes(status)) buttons.push(act("Ask the provider", () => sandbox.reconcile(reference)));
  return make("div.actions", {}, ...buttons);
}

async function showReceipt(reference) {
  $("receipt").querySelector("iframe").srcdoc = await sandbox.receiptAs(reference, "text/html");
  $("receipt").showModal();
}

async function showDetail() {
  if (selected === undefined) {
    $("detail").replaceChildren(make("p.empty", {}, "Choose a payment to see its whole trace."));
    return;
  }
  const [settlement, { data }] = await Promise.all([sandbox.get(selected), sandbox.events(selected, { limit: 200 })]);
  $("said").textContent = `${settlement.to}: ${words(settlement.status)}`;
  $("detail").replaceChildren(
    make("p.headline", {}, make("strong", {}, settlement.to), " ", pill(settlement.status)),
    facts(settlement),
    actions(settlement),
    timeline(data),
  );
}

async function show() {
  const [{ data }, balance, clock] = await Promise.all([sandbox.list({ limit: 50 }), sandbox.balance(request().currency), sandbox.clock()]);
  if (selected === undefined && data.length > 0) selected = data[0].reference;
  $("available").textContent = money(balance.available, balance.currency);
  ahead = Date.parse(clock.now) - Date.now();
  showClock();
  $("role").textContent = sandbox.leads
    ? "This tab runs the gateway; other tabs follow it."
    : "This tab follows the one that runs the gateway.";
  showPayments(data);
  await showDetail();
}

// Shows many changes in a row only once.
let showing;
let stale = false;
function refresh() {
  stale = true;
  showing ??= (async () => {
    while (stale) {
      stale = false;
      await show();
    }
  })()
    .catch(trouble)
    .finally(() => (showing = undefined));
}

for (const button of document.querySelectorAll("[data-advance]")) {
  button.addEventListener("click", () => sandbox.setClock({ advance_ms: Number(button.dataset.advance) }).then(refresh, trouble));
}
addEventListener("hashchange", () => select(decodeURIComponent(location.hash.slice(1))));

// ---- Start.

form.elements.reference.value = nextReference();
$("currency").replaceChildren(...(await sandbox.balances()).map(({ currency }) => make("option", { value: currency }, currency)));
$("currency").value = "EUR";
$("scenarios").replaceChildren(
  ...(await sandbox.scenarios()).map(({ to, description }) => make("option", { value: to, label: `${to}: ${description}` })),
);
await check().catch(trouble);
refresh();
for await (const _ of sandbox.followFeed()) refresh();
