// Runs a page of docs/start as its reader would: it writes the files that the page shows, types the commands, and compares what they print.
//
// A block of code whose first line names a file is that file. A block of a session has commands (`$ …`) and what they print, where `…`
// stands for anything; ids and secrets that the page shows stand for the real ones from then on. `stays` marks a terminal of its own,
// whose command goes on running; `goes-on` has what it prints later.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const BLOCK = /^```(\w+)(?: (\S+))?\n([^]*?)^```$/gm;
const ADDRESS = /127\.0\.0\.1:(\d{4})\b/g;
/** What a page shows of what is different each time: ids, codes and secrets. */
const SHOWN = /\b(?:[a-z]{3,4}_[0-9A-Z]{26}|[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}|whsec_[A-Za-z0-9+/]{40,}=*)/g;

const literally = (text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** The commands of a session, each with the lines that it prints. */
function steps(session) {
  const found = [];
  for (const line of session.trimEnd().split("\n")) {
    const open = found.at(-1);
    if (line.startsWith("$ ")) found.push({ command: line.slice(2), prints: [] });
    else if (open?.prints.length === 0 && open.command.endsWith("\\")) open.command += `\n${line}`;
    else open.prints.push(line);
  }
  return found;
}

export class Page {
  #folder;
  #ports = new Map();
  /** What the page shows of an id, and the real one. */
  #real = new Map();
  #staying = [];
  #replaced;
  #blocks;

  /** `replaced` has texts of the page that a test must have otherwise, such as the address of a database. */
  static async open(name, { binary, npm, folder, replaced = [] }) {
    const page = new Page();
    const source = readFileSync(join(ROOT, "docs/start", name), "utf8");
    page.#replaced = replaced;
    page.#folder = mkdtempSync(join(folder, `${name}-`));
    page.#blocks = [...source.matchAll(BLOCK)].map(([, language, word, content]) => ({ language, word, content }));
    for (const [, port] of source.matchAll(ADDRESS)) if (!page.#ports.has(port)) page.#ports.set(port, await freePort());
    if (!page.#ports.has("8080")) page.#ports.set("8080", await freePort());
    symlinkSync(binary, join(page.#folder, "railgate"));
    symlinkSync(join(ROOT, "docs"), join(page.#folder, "docs"));
    mkdirSync(join(page.#folder, "node_modules"));
    symlinkSync(npm, join(page.#folder, "node_modules", "railgate"));
    return page;
  }

  /** How many commands ran. */
  async run() {
    let count = 0;
    for (const { language, word, content } of this.#blocks) {
      if (word?.includes(".")) writeFileSync(join(this.#folder, word), this.#with(content));
      else if (word === "goes-on") await this.#printed(this.#staying.at(-1), content.trimEnd().split("\n"));
      else if (language === "console") {
        for (const step of steps(content)) {
          await (word === "stays" ? this.#stay(step) : this.#type(step));
          count += 1;
        }
      }
    }
    return count;
  }

  async close() {
    for (const child of this.#staying) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, "exit");
      process.kill(-child.pid, "SIGKILL");
      await gone;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A text of the page with what is real here. */
  #with(text) {
    let real = text;
    for (const [from, to] of this.#replaced) real = real.replaceAll(from, to);
    for (const [shown, is] of this.#real) real = real.replaceAll(shown, is);
    for (const [port, free] of this.#ports) real = real.replaceAll(new RegExp(`\\b${port}\\b`, "g"), String(free));
    return real;
  }

  #spawn(command) {
    const own = `127.0.0.1:${this.#ports.get("8080")}`;
    const env = {
      ...process.env,
      HOME: this.#folder,
      RAILGATE_HOME: join(this.#folder, "profiles"),
      RAILGATE_DATA_DIR: join(this.#folder, "data"),
      RAILGATE_LISTEN: own,
      RAILGATE_SERVER: `http://${own}`,
      RAILGATE_METRICS_LISTEN: "off",
      NO_PROXY: "*",
      no_proxy: "*",
    };
    const child = spawn("sh", ["-c", `exec 2>&1\n${this.#with(command)}`], {
      cwd: this.#folder,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.lines = [];
    createInterface({ input: child.stdout }).on("line", (line) => {
      child.lines.push(line);
      child.emit("line");
    });
    return child;
  }

  /** Types a command, and compares what it printed when it has ended. */
  async #type({ command, prints }) {
    const child = this.#spawn(command);
    const [code] = await once(child, "close");
    assert.equal(code, 0, `${command}\n${child.lines.join("\n")}`);
    const missing = this.#missing(prints, child.lines);
    assert.equal(missing, undefined, `${command} does not print\n${missing}\nbut\n${child.lines.join("\n")}`);
  }

  /** Types a command in a terminal of its own, and waits until it has printed what the page says. */
  async #stay({ command, prints }) {
    const child = this.#spawn(command);
    this.#staying.push(child);
    await this.#printed(child, prints);
  }

  /** Waits until a command that stays has printed these lines. */
  async #printed(child, prints) {
    const ended = once(child, "exit").then(([code]) => assert.fail(`ended with ${code}: ${child.lines.join("\n")}`));
    ended.catch(() => undefined);
    while (this.#missing(prints, child.lines) !== undefined) await Promise.race([once(child, "line"), ended]);
  }

  /** The first line of the page that is not among the lines, in their order. Learns the real ids. */
  #missing(prints, lines) {
    let at = 0;
    for (const wanted of prints) {
      if (wanted === "…" || wanted === "") continue;
      const names = [...wanted.matchAll(SHOWN)].map(([shown]) => shown).filter((shown) => !this.#real.has(shown));
      // Columns are as wide as what is in them.
      const shape = literally(this.#with(wanted)).replaceAll(SHOWN, (shown) =>
        this.#real.has(shown) || !names.includes(shown) ? shown : `(${like(shown)})`,
      );
      const pattern = new RegExp(`^${shape.replaceAll(/ +/g, " +").replaceAll("…", ".*")}`);
      const found = lines.findIndex((line, n) => n >= at && pattern.test(line));
      if (found < 0) return wanted;
      const [, ...real] = pattern.exec(lines[found]);
      names.forEach((shown, n) => this.#real.set(shown, real[n]));
      at = found + 1;
    }
    return undefined;
  }
}

/** What something that a page shows looks like in general. */
const like = (shown) =>
  shown.startsWith("whsec_")
    ? "whsec_[A-Za-z0-9+\\/]+=*"
    : shown.includes("_")
      ? `${shown.split("_")[0]}_[0-9A-Z]{26}`
      : "[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}";
