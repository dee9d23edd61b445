// Real servers for the specs: one, or several nodes over one store behind a proxy that sends each request to another one.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, request as send } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

const BINARY = process.env.RAILGATE_TEST_BINARY;
const STORE = process.env.RAILGATE_TEST_STORE;
const FOLDER = process.env.RAILGATE_TEST_FOLDER;
const NODES = Number(process.env.RAILGATE_TEST_NODES ?? "1");

if (BINARY === undefined || STORE === undefined || FOLDER === undefined) {
  throw new Error("./check web runs these specs, with RAILGATE_TEST_BINARY, RAILGATE_TEST_STORE and RAILGATE_TEST_FOLDER");
}

/** All started processes; none outlives the specs. */
const running = new Set();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

const common = ["--store", STORE, "--master-keys", join(FOLDER, "master.keys"), "--data-dir", FOLDER];

/** A port that was free a moment ago. */
async function freePort() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function startNode(host, port, more) {
  const flags = ["--listen", `${host}:${port}`, "--metrics-listen", "off", "--rate-limit", "off", "--log-level", "error"];
  const child = spawn(BINARY, ["serve", ...common, ...flags, ...more], { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([once(lines, "line"), once(child, "exit").then(([code]) => [`ended with ${code}`])]);
  if (!line.startsWith("listening on ")) throw new Error(`the server did not start: ${line}`);
  return child;
}

/** Sends each request to the next node. A node that is down answers 502, as a load balancer would. */
async function startProxy(port, hosts) {
  let turn = 0;
  const proxy = createServer((request, response) => {
    turn += 1;
    const { method, url: path, headers } = request;
    const onward = send({ host: hosts[turn % hosts.length], port, method, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    onward.on("error", () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  proxy.listen(port, "127.0.0.1");
  await once(proxy, "listening");
  return proxy;
}

/**
 * A gateway on one address that stays the same while its servers stop and start. Nodes listen on addresses of the loopback network
 * with one port, so that calls signed for the proxy's address are signed for each of them.
 */
export class Gateway {
  #port;
  #hosts;
  #more;
  #nodes = [];
  #proxy;

  static async start(more = []) {
    const gateway = new Gateway();
    gateway.#port = await freePort();
    gateway.#hosts = NODES === 1 ? ["127.0.0.1"] : Array.from({ length: NODES }, (_, n) => `127.0.0.${n + 2}`);
    gateway.#more = NODES === 1 ? more : [...more, ...(STORE.startsWith("sqlite:") ? ["--shared-store", "on"] : [])];
    await gateway.resume();
    if (NODES > 1) gateway.#proxy = await startProxy(gateway.#port, gateway.#hosts);
    return gateway;
  }

  get url() {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The same under a name, which passkeys need. */
  get named() {
    return `http://localhost:${this.#port}`;
  }

  /** Kills every server, as in a power failure. */
  async stop() {
    const nodes = this.#nodes;
    this.#nodes = [];
    for (const node of nodes) {
      const gone = once(node, "exit");
      node.kill("SIGKILL");
      await gone;
    }
  }

  /** Starts the servers on their addresses again. */
  async resume() {
    // One after the other: the first one migrates the store.
    for (const host of this.#hosts) this.#nodes.push(await startNode(host, this.#port, this.#more));
  }

  async close() {
    this.#proxy?.closeAllConnections();
    this.#proxy?.close();
    await this.stop();
  }

  /** What an operator's command over the store prints. */
  command(...args) {
    return execFileSync(BINARY, [...args, "--store", STORE], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  }

  /** The code of an invitation to be an operator. */
  invite(name, role) {
    return this.command("operators", "invite", name, "--role", role);
  }
}
