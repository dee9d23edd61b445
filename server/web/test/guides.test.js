// Every page of docs/start is run as printed. Over PostgreSQL only the page about it is: the others are about a file.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Page } from "./pages.js";

const { RAILGATE_TEST_BINARY: binary, RAILGATE_TEST_FOLDER: folder, RAILGATE_TEST_STORE: store } = process.env;
const START = fileURLToPath(new URL("../../../docs/start", import.meta.url));
const npm = fileURLToPath(new URL("../../../bindings-wasm/npm", import.meta.url));
/** Pages of programs that the doctests of the workspace run. */
const DOCTESTS = new Set(["embedding-in-rust.md"]);
/** The database of the page, and the keys of its secrets: here those of all specs. */
const REPLACED = [
  ["postgres://gateway@127.0.0.1/railgate", store],
  ["master.keys", join(folder, "master.keys")],
];
/** Needs a database. */
const POSTGRESQL = "postgresql.md";

const overPostgres = store.startsWith("postgres:");
const names = readdirSync(START).filter((name) => !DOCTESTS.has(name) && (name === POSTGRESQL) === overPostgres);

for (const name of names) {
  test(`docs/start/${name} does what it says`, async () => {
    const page = await Page.open(name, { binary, npm, folder, replaced: REPLACED });
    try {
      assert.ok((await page.run()) >= 4, "the page has commands");
    } finally {
      await page.close();
    }
  });
}
