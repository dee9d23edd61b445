// Draws the SVG of a QR code as pixels: it is one path of bars.

/** RGBA pixels of `svg`, `scale` for each module. */
export function draw(svg, scale) {
  const modules = Number(/viewBox="0 0 (\d+) \d+"/.exec(svg)[1]);
  const side = modules * scale;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  const [, bars] = /fill="#000" d="([^"]*)"/.exec(svg);
  for (const [, x, y, length] of bars.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let row = y * scale; row < (Number(y) + 1) * scale; row += 1) {
      const from = 4 * (row * side + x * scale);
      for (let at = from; at < from + 4 * length * scale; at += 4) pixels.fill(0, at, at + 3);
    }
  }
  return { pixels, side };
}
