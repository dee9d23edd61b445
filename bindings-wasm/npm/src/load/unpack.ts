/**
* Unpacks what scripts/pack.mjs packs: modules embedded in JavaScript files, which every bundler, browser and runtime
 * accepts without configuration.
 *
 * @module
 */

/** A module encoded as text. */
export interface Packed {
  /** Characters that encode one byte each. */
  readonly alphabet: string;
  /** Escape characters for rarer bytes: the next character is from the second (first escape) or third (second escape) alphabet. */
  readonly escapes: string;
  /** All 256 bytes in the order of their codes, in hexadecimal; as many as the alphabet is long take one character each. */
  readonly order: string;
  /** The encoded module. */
  readonly text: string;
  /** The size of the module in bytes. */
  readonly size: number;
}

/** Decodes a module. */
export function unpack({ alphabet, escapes, order, text, size }: Packed): Uint8Array<ArrayBuffer> {
  const byte = new Uint8Array(3 * alphabet.length);
  for (let n = 0; n < order.length / 2; n += 1) byte[n] = Number.parseInt(order.slice(2 * n, 2 * n + 2), 16);
  const rank = new Uint8Array(128);
  for (let n = 0; n < alphabet.length; n += 1) rank[alphabet.charCodeAt(n)] = n;
  const bytes = new Uint8Array(size);
  let at = 0;
  let base = 0;
  for (let n = 0; n < text.length; n += 1) {
    const escape = escapes.indexOf(text.charAt(n));
    if (escape >= 0) {
      base = (escape + 1) * alphabet.length;
      continue;
    }
    bytes[at] = byte[base + (rank[text.charCodeAt(n)] ?? 0)] ?? 0;
    at += 1;
    base = 0;
  }
  return bytes;
}
