// Encodes bytes as text that compresses about as well, because a byte stays a whole character. Base64 would be a third larger.

/** Characters that no minifier escapes in a string. */
const ALPHABET = " !#%&'()*+,-/0123456789:;<>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~";
/** Brotli predicts what follows each of these apart from what follows any other character (RFC 7932, section 7.1). */
const ESCAPES = ".=";

/** All bytes in the order of their codes: the most frequent ones take one character, the others two. */
function ordered(bytes) {
  const count = new Array(256).fill(0);
  for (const byte of bytes) count[byte] += 1;
  const frequent = [...count.keys()].sort((a, b) => count[b] - count[a] || a - b);
  const single = new Set(frequent.slice(0, ALPHABET.length));
  // Text characters encode themselves as far as possible, which compresses best.
  const own = [...ALPHABET].map((character) => character.charCodeAt(0)).map((byte) => (single.has(byte) ? byte : undefined));
  const left = [...single].filter((byte) => !own.includes(byte)).sort((a, b) => a - b);
  const first = own.map((byte) => byte ?? left.shift());
  return [...first, ...frequent.slice(ALPHABET.length).sort((a, b) => a - b)];
}

/** Packs bytes for `unpack` of src/load/unpack.ts. */
export function pack(bytes) {
  const order = ordered(bytes);
  const code = new Array(256);
  order.forEach((byte, place) => {
    const escape = Math.floor(place / ALPHABET.length);
    code[byte] = (escape === 0 ? "" : ESCAPES[escape - 1]) + ALPHABET[place % ALPHABET.length];
  });
  const text = Array.from(bytes, (byte) => code[byte]).join("");
  return { alphabet: ALPHABET, escapes: ESCAPES, order: Buffer.from(order).toString("hex"), text, size: bytes.length };
}
