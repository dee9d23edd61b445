// Runs the README's JavaScript as printed, and compares its output.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { issuer } from "../node/receipts.js";
import { baseUrl } from "./server.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const snippets = [...(await readFile(join(root, "README.md"), "utf8")).matchAll(/## (.*)\n(?:(?!## )[^])*?```js\n([^]*?)```/g)];

let folder;
before(async () => {
  // Inside the package, so that its name resolves to it.
  await mkdir(join(root, "build"), { recursive: true });
  folder = await mkdtemp(join(root, "build", "readme-"));
  const { sign, jwks } = await issuer();
  await writeFile(join(folder, "jwks.json"), JSON.stringify(jwks));
  await writeFile(join(folder, "receipt.jws"), await sign());
});
after(() => rm(folder, { recursive: true }));

test("there are as many as it takes to show every entry", () => {
  assert.deepEqual(snippets.map(([, title]) => title), [
    "Pay",
    "Lists, webhooks, and every other call",
    "Users and their devices",
    "Logs and traces",
    "Quality metrics",
    "A gateway in a tab",
    "One program for both",
    "A production server",
    "Errors",
    "Forms",
    "Receipts",
    "The log",
    "Webhooks",
    "Testing your receiver",
    "QR codes",
    "Amounts",
  ]);
});

for (const [, title, code] of snippets) {
  test(title, async () => {
    const file = join(folder, `${title.replace(/\W+/g, "-")}.mjs`);
    await writeFile(file, code.replaceAll("https://pay.example.com\"", `${baseUrl}"`));
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder, env: { ...process.env, RAILGATE_WEBHOOK_SECRET: SECRET } });
    const promised = [...code.matchAll(/^\/\/ → (.*)$/gm)].map(([, line]) => `${line}\n`).join("");
    assert.equal(stdout, promised);
  });
}
