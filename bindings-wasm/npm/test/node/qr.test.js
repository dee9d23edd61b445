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

test("it is drawn as it is wanted", async () => {
  const text = "https://pay.example/r/inv-1";
  for (const level of ["L", "M", "Q", "H"]) {
    const svg = await qrSvg(text, { level, margin: 6, size: 300, title: "Pay <now>" });
    assert.match(svg, / width="300" height="300" .*<title>Pay &lt;now&gt;<\/title>/);
    const { pixels, side } = draw(svg, 4);
    assert.equal(jsQR(pixels, side, side)?.data, text, level);
  }
  assert.match(await qrSvg(text, { margin: 0 }), / width="(\d+)" height="\1" /);
  for (const options of [{ level: "X" }, { margin: 65 }, { margin: -1 }, { margin: 0.5 }, { size: 0 }, { size: 16_385 }]) {
    await assert.rejects(qrSvg(text, options), (error) => error instanceof RailgateError && error.errors[0].pointer === `/${Object.keys(options)[0]}`, JSON.stringify(options));
  }
  await assert.rejects(qrSvg("x".repeat(1_274), { level: "H" }), /1273/);
  for (const options of [null, [], 7, { title: 7 }, { level: 1 }, { margin: "1" }, { size: "1" }]) await assert.rejects(qrSvg(text, options), TypeError);
});

test("it holds as much as a code can, and says when it is more", async () => {
  assert.match(await qrSvg("x".repeat(2_953)), /^<svg /);
  await assert.rejects(qrSvg("x".repeat(2_954)), RailgateError);
});

test("wrong types are a TypeError", async () => {
  for (const text of [undefined, null, 7, {}, [], ""]) await assert.rejects(qrSvg(text), TypeError);
});
