// A payment form that shows problems while the user types, by the rules of the server, and pays.
//
// Which server: ?server=https://pay.example.com. Without one it shows what would be sent.
import { loadForms, problemsByField } from "railgate/forms";

const form = document.querySelector("form");
const button = form.querySelector("button");
const outcome = form.querySelector(".outcome");
const inputs = [...form.querySelectorAll("input, textarea")];
const server = new URLSearchParams(location.search).get("server");

/** Problems are shown for fields that the user has visited, not for later ones. */
const visited = new Set();
const notes = new Map(inputs.map((input) => [input, noteFor(input)]));

function noteFor(input) {
  const note = Object.assign(document.createElement("span"), { className: "problem", id: `${input.name}-problem` });
  input.setAttribute("aria-describedby", note.id);
  input.closest(".field").append(note);
  return note;
}

/** The contents of the form. */
function draft() {
  return Object.fromEntries(inputs.map((input) => [input.name, input.value]));
}

const forms = await loadForms({ locale: document.documentElement.lang });

function look() {
  const checked = forms.check(draft());
  const problems = problemsByField(checked.problems);
  for (const input of inputs) {
    const problem = visited.has(input) ? problems.get(input.name) : undefined;
    input.setAttribute("aria-invalid", String(problem !== undefined));
    notes.get(input).textContent = problem?.payerMessage ?? "";
  }
  button.disabled = !checked.ok;
  return checked;
}

function say(text, bad = false) {
  outcome.textContent = text;
  outcome.classList.toggle("bad", bad);
}

let client;
async function connected() {
  const { RailgateClient } = await import("railgate/client");
  const opened = await RailgateClient.open({ baseUrl: server });
  if (!opened.enrolled) await opened.enroll("Payment form");
  return opened;
}

async function pay(request) {
  if (server === null) return say(`Ready to be sent: ${JSON.stringify(request)}`);
  say("Paying …");
  client ??= await connected();
  const { settlement } = await client.create(request, { waitS: 30 });
  say(`${settlement.amount} ${settlement.currency} to ${settlement.to}: ${settlement.status}`);
}

form.addEventListener("input", (event) => {
  visited.add(event.target);
  look();
});
form.addEventListener("focusout", (event) => {
  if (event.target.value !== "") visited.add(event.target);
  look();
});
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  for (const input of inputs) visited.add(input);
  const checked = look();
  if (!checked.ok) return;
  button.disabled = true;
  try {
    await pay(checked.request);
  } catch (error) {
    // The reference stays the same, so pressing the button again pays nothing twice.
    say(error.message, true);
  } finally {
    look();
  }
});
look();
