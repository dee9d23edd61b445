import assert from "node:assert/strict";
import test from "node:test";
import jsQR from "jsqr";
import { RailgateError, qrSvg } from "railgate/qr";
import { draw } from "./svg.js";

test("another library reads what it says", async () => {
  for (const text of ["a", "https://pay.example/r?x=1&y=<2>", "שלום 東京 😀", "x".repeat(1_200)]) {
    const { pixels, side } = draw(await qrSvg(text), 4);
    assert.equal(jsQR(pixels, side, side)?.data, text);
  }
});

test("it holds as much as a code can, and says when it is more", async () => {
  assert.match(await qrSvg("x".repeat(2_953)), /^<svg /);
  await assert.rejects(qrSvg("x".repeat(2_954)), RailgateError);
});

test("wrong types are a TypeError", async () => {
  for (const text of [undefined, null, 7, {}, [], ""]) await assert.rejects(qrSvg(text), TypeError);
});
