// The same seed produces the same bytes as the native engine, in Node.

import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryStorage } from "../../dist/sandbox/memory.js";
import { play } from "../play.js";
import { scenarios } from "./scenarios.js";

for (const scenario of scenarios) {
  test(`${scenario.name} answers to the byte as the native engine does`, async () => {
    const storage = new MemoryStorage();
    const { answers, different } = await play(scenario, () => storage);
    assert.deepEqual(different, []);
    assert.ok(answers > 0);
  });
}
