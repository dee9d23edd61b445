import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test from "node:test";
import { unpack } from "../../dist/load/unpack.js";
import { pack } from "../../scripts/pack.mjs";

test("packed bytes come out as they went in", () => {
  const all = Uint8Array.from({ length: 256 }, (_, n) => n);
  const uneven = Uint8Array.from({ length: 10_000 }, (_, n) => (n % 7 === 0 ? n % 251 : n % 5));
  for (const bytes of [new Uint8Array(), all, uneven, new Uint8Array(randomBytes(50_000))]) {
    assert.deepEqual(unpack(pack(bytes)), bytes);
  }
});

test("nothing in it needs an escape in a string literal", () => {
  const { text } = pack(Uint8Array.from({ length: 256 }, (_, n) => n));
  assert.match(text, /^[ !#%-\[\]-_a-~]*$/);
});
