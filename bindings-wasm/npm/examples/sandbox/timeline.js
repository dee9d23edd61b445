// A settlement's trace as a picture: one line for the settlement, a branch for every attempt and every reversal.

const LANE = 26;
const LEFT = 16;
const BEND = 26;

/** The text of an event, for people. */
const SAYS = {
  "settlement.accepted": "Accepted; the money is on hold",
  "settlement.submitted": "Handed to a provider",
  "settlement.unknown": "The outcome is unknown; the money stays on hold",
  "settlement.completed": "Completed",
  "settlement.failed": "Failed; the money is released",
  "settlement.cancelled": "Cancelled before anything was sent",
  "settlement.partially_reversed": "Given back in part",
  "settlement.reversed": "Given back",
  "settlement.returned": "The provider sent it back",
  "settlement.discrepancy": "The provider contradicts itself; a person must review it",
  "settlement.reviewed": "Reviewed by a person",
  "attempt.started": "Attempt",
  "attempt.answered": "Answer to attempt",
  "reversal.accepted": "Reversal accepted",
  "reversal.submitted": "Reversal handed to the provider",
  "reversal.unknown": "The reversal's outcome is not known yet",
  "reversal.completed": "Reversal completed",
  "reversal.failed": "Reversal failed",
};

/** The look of each state. */
const TONE = {
  accepted: "waiting",
  started: "waiting",
  submitted: "waiting",
  unknown: "doubt",
  completed: "good",
  partially_reversed: "back",
  reversed: "back",
  returned: "back",
  failed: "bad",
  declined: "bad",
  not_sent: "bad",
  cancelled: "quiet",
};

/** The tone of a state: one of a few colours. */
export const tone = (state) => TONE[state] ?? "quiet";

/** A state in words. */
export const words = (state) => state.replaceAll("_", " ");

/** Which line an event belongs to: the settlement's, an attempt's or a reversal's. */
function lineOf(event) {
  if (event.type.startsWith("attempt.")) return `attempt ${event.attempt}`;
  if (event.type.startsWith("reversal.")) return `reversal ${event.data.reversal}`;
  return "settlement";
}

/** The lines of a trace: first and last row, column, and the state after each row. */
export function lines(events) {
  const found = new Map();
  events.forEach((event, row) => {
    const name = lineOf(event);
    const line = found.get(name) ?? { name, first: row, last: row, stops: [] };
    line.last = row;
    line.stops.push({ row, state: event.to ?? event.from });
    found.set(name, line);
  });
  const all = [...found.values()].map((line) => ({
    ...line,
    open: !["good", "bad", "quiet", "back"].includes(tone(line.stops.at(-1).state)),
  }));
  const taken = [];
  for (const line of all) {
    const until = line.open ? Infinity : line.last;
    line.column = line.name === "settlement" ? 0 : 1;
    while (line.column > 0 && (taken[line.column] ?? -1) >= line.first) line.column += 1;
    taken[line.column] = until;
  }
  return all;
}

const x = (column) => LEFT + column * LANE;

/** A branch leaves the settlement's line shortly before its first event and returns as far after its last. */
function branch(column, from, to, back) {
  const out = `M${x(0)} ${from - BEND}C${x(0)} ${from - BEND / 4} ${x(column)} ${from - BEND / 1.3} ${x(column)} ${from}`;
  const home = back ? `C${x(column)} ${to + BEND / 1.3} ${x(0)} ${to + BEND / 4} ${x(0)} ${to + BEND}` : "";
  return `${out}V${to}${home}`;
}

function shape(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** The shapes of a trace whose rows are at these heights. */
function shapes(all, y) {
  const drawn = [];
  const end = y.length - 1;
  for (const { column, first, last, stops, open } of [...all].reverse()) {
    const final = tone(stops.at(-1).state);
    if (column > 0) {
      drawn.push(shape("path", { class: `rail ${final}`, d: branch(column, y[first], y[last], !open && last < end) }));
      continue;
    }
    stops.forEach(({ row, state }, i) => {
      const next = stops[i + 1]?.row ?? end;
      if (next > row) drawn.push(shape("path", { class: `rail ${tone(state)}`, d: `M${x(0)} ${y[row]}V${y[next]}` }));
    });
    if (open) drawn.push(shape("path", { class: `rail ${final} open`, d: `M${x(0)} ${y[end] + 8}V${y[end] + BEND + 8}` }));
  }
  for (const { column, stops } of all) {
    for (const { row, state } of stops)
      drawn.push(shape("circle", { class: `stop ${tone(state)}`, cx: x(column), cy: y[row], r: column === 0 ? 6.5 : 5 }));
  }
  return drawn;
}

/** A duration in the largest unit that fits. */
export function stretch(ms) {
  for (const [unit, length] of [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
    ["s", 1000],
  ]) {
    if (ms >= length) return `${Number((ms / length).toFixed(1))} ${unit}`;
  }
  return `${ms} ms`;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

function sentence(event) {
  const says = SAYS[event.type] ?? event.type;
  if (event.type === "attempt.started") return `${says} ${event.attempt}: sent to ${event.data.provider ?? "the provider"}`;
  if (event.type === "attempt.answered") return `${says} ${event.attempt}: ${words(event.to ?? "unknown")}`;
  if (event.type.startsWith("reversal.") && event.data.amount !== undefined) return `${says}: ${event.data.amount}`;
  return says;
}

function row(event, before) {
  const at = document.createElement("time");
  at.dateTime = event.at;
  at.textContent = CLOCK.format(new Date(event.at));
  const said = document.createElement("span");
  said.className = "said";
  said.textContent = sentence(event);
  const small = document.createElement("span");
  small.className = "who";
  small.append(at, ` · ${event.actor}`);
  const waited = before === undefined ? 0 : Date.parse(event.at) - Date.parse(before.at);
  if (waited >= 1000) {
    const gap = document.createElement("span");
    gap.className = "gap";
    gap.textContent = `${stretch(waited)} later`;
    small.append(" ", gap);
  }
  const item = document.createElement("li");
  item.className = tone(event.to ?? event.from);
  item.append(said, small);
  return item;
}

/** Draws a trace: an accessible list with the picture beside it. */
export function timeline(events) {
  const all = lines(events);
  const width = LEFT + LANE * Math.max(...all.map(({ column }) => column)) + LEFT;
  const svg = shape("svg", { class: "rails", width, "aria-hidden": "true" });
  const list = document.createElement("ol");
  list.className = "events";
  list.append(...events.map((event, i) => row(event, events[i - 1])));
  const whole = document.createElement("div");
  whole.className = "timeline";
  whole.style.setProperty("--rails", `${width}px`);
  whole.append(svg, list);
  // Rows are as high as their text needs at the available width.
  new ResizeObserver(() => {
    const middle = (item) => item.offsetTop - list.offsetTop + item.offsetHeight / 2;
    svg.setAttribute("height", list.offsetHeight);
    svg.replaceChildren(...shapes(all, [...list.children].map(middle)));
  }).observe(list);
  return whole;
}
