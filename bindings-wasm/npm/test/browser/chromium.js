// Chromium for the tests: started as a child process, so that it can be killed, and driven by Playwright.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { createInterface } from "node:readline";

import { chromium } from "playwright-core";

const EXECUTABLE = process.env.CHROMIUM ?? "chromium";
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  // Each tab in a separate process, so that killing one does not kill the others.
  "--process-per-tab",
  // A host that browsers do not trust, unlike localhost.
  "--host-resolver-rules=MAP railgate.test 127.0.0.1",
  "--remote-debugging-port=0",
];
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** A timeout that names the test that hangs, instead of ending the whole file; not a measure of how long anything may take. */
const HANGS_MS = Number(process.env.RAILGATE_TEST_HANGS_MS ?? 600_000);

/** All started processes that may still run; none outlives the tests. */
const running = new Set();
process.on("exit", () => {
  for (const child of running) kill(child);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

function kill(child) {
  running.delete(child);
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

/** The running processes of a group. Linux only. */
async function members(group) {
  const ids = (await readdir("/proc")).filter((name) => /^[0-9]+$/.test(name));
  const read = async (id) => {
    const [line, stat] = await Promise.all([readFile(`/proc/${id}/cmdline`, "utf8"), readFile(`/proc/${id}/stat`, "utf8")]);
    const [state, , its] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { id: Number(id), line, runs: its === String(group) && !["Z", "X"].includes(state) };
  };
  // A process that has ended meanwhile cannot be read.
  const all = await Promise.all(ids.map((id) => read(id).catch(() => undefined)));
  return all.filter((one) => one?.runs);
}

/** A running Chromium with a profile on disk. */
export class Browser {
  #child;
  #connection;

  constructor(child, connection) {
    this.#child = child;
    this.#connection = connection;
    this.context = connection.contexts()[0];
    this.context.setDefaultTimeout(HANGS_MS);
  }

  /** Starts it; an existing profile keeps its storage. */
  static async start(profile) {
    const child = spawn(EXECUTABLE, [...FLAGS, `--user-data-dir=${profile}`, "about:blank"], {
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
    });
    running.add(child);
    const endpoint = await new Promise((resolve, reject) => {
      const said = [];
      child.on("error", reject);
      child.on("exit", (code) => reject(new Error(`Chromium ended with ${code}:\n${said.join("\n")}`)));
      createInterface({ input: child.stderr }).on("line", (line) => {
        said.push(line);
        const [, url] = /^DevTools listening on (ws:.*)$/.exec(line) ?? [];
        if (url !== undefined) resolve(url);
      });
    });
    return new Browser(child, await chromium.connectOverCDP(endpoint, { timeout: HANGS_MS }));
  }

  /** A context with storage of its own, as a second person's browser has. */
  async person(options = {}) {
    const context = await this.#connection.newContext(options);
    context.setDefaultTimeout(HANGS_MS);
    return context;
  }

  /** Opens a tab with `url`. Its errors are in `page.faults`. */
  async tab(url) {
    const page = await this.context.newPage();
    page.faults = [];
    page.on("pageerror", (error) => page.faults.push(error));
    await page.goto(url);
    return page;
  }

  /** Kills a tab's process, as the system does when memory is short. */
  async killTab(page) {
    const session = await this.context.newCDPSession(page);
    const crashed = page.waitForEvent("crash");
    // A crashed tab does not respond.
    void session.send("Page.crash").catch(() => undefined);
    await crashed;
  }

  /** Kills the storage process; Chromium restarts it. Linux only. */
  async killStorage() {
    const found = (await members(this.#child.pid)).filter(({ line }) => line.includes("storage.mojom.StorageService"));
    if (found.length === 0) throw new Error("Chromium has no storage process");
    for (const { id } of found) process.kill(id, "SIGKILL");
  }

  /** Kills all its processes, as in a power failure, and waits until they have ended. */
  async kill() {
    if (this.#gone) return;
    const gone = once(this.#child, "exit");
    kill(this.#child);
    await gone;
    // The first may end before the others. If one of these still wrote, the next browser would take that for damage and
    // start with an empty storage.
    if (process.platform === "linux") while ((await members(this.#child.pid)).length > 0);
  }

  get #gone() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}

/** A temporary folder for a profile, and a function that removes it. */
export async function freshProfile() {
  const folder = await mkdtemp(join(tmpdir(), "railgate-chromium-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }) };
}

/**
 * Serves folders (`/path` → folder) and texts (`/path` → { type, body }, or a function that returns it or nothing) on localhost,
 * which browsers trust; by default on any free port.
 */
export async function serve(routes, port = 0) {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const known = typeof routes[path] === "function" ? routes[path]() : routes[path];
    if (typeof known === "object") return response.writeHead(200, { "content-type": known.type }).end(known.body);
    const folder = Object.keys(routes).find((prefix) => typeof routes[prefix] === "string" && path.startsWith(prefix));
    const file = folder === undefined ? undefined : join(routes[folder], normalize(path.slice(folder.length) || "index.html"));
    try {
      const body = await readFile(file);
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    /** May be changed while it runs. */
    routes,
    url: `http://localhost:${server.address().port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
