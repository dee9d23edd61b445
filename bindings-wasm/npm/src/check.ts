/**
* Checks the types of arguments at the package's boundary: a wrong one is a `TypeError` that names it, and never
 * reaches the core's memory.
 *
 * @module
 */

function kind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : typeof value === "undefined" ? "undefined" : `a ${typeof value}`;
}

function wrong(name: string, right: string, value: unknown): TypeError {
  return new TypeError(`${name} must be ${right}, not ${kind(value)}`);
}

/** Returns `value` if it is a string. */
export function text(value: unknown, name: string): string {
  if (typeof value !== "string") throw wrong(name, "a string", value);
  return value;
}

/** Returns `value` if it is a non-empty string. */
export function filled(value: unknown, name: string): string {
  const given = text(value, name);
  if (given === "") throw new TypeError(`${name} must not be empty`);
  return given;
}

/** Returns `value` if it is valid in a header: printable ASCII, at most 255 characters. */
export function header(value: unknown, name: string): string {
  const given = filled(value, name);
  if (!/^[ -~]{1,255}$/.test(given)) throw new TypeError(`${name} must be printable ASCII, at most 255 characters`);
  return given;
}

/** Returns `value` if it is an object and not an array. */
export function object(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(name, "an object", value);
  return value as Readonly<Record<string, unknown>>;
}

/** Returns `value` if it is a finite number. */
export function number(value: unknown, name: string): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw wrong(name, "a finite number", value);
  return value;
}

/** Returns a `Date` or a number of milliseconds since 1970, rounded down to whole milliseconds. */
export function instant(value: unknown, name: string): number {
  return Math.floor(number(value instanceof Date ? value.getTime() : value, name));
}

/** Returns `value` if it is a whole number of at least `least`. */
export function whole(value: unknown, name: string, least: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least) {
    throw new TypeError(`${name} must be a whole number of at least ${least}`);
  }
  return value;
}

/** Returns `value` if it is a boolean. */
export function flag(value: unknown, name: string): boolean {
  if (typeof value !== "boolean") throw wrong(name, "a boolean", value);
  return value;
}

/** Whether a value has these methods. Not `instanceof`: other realms and libraries have different classes for an interface. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === "function");
}

/** Returns `value` if it is an `AbortSignal` or `undefined`. */
export function signal(value: unknown, name: string): AbortSignal | undefined {
  if (value === undefined) return undefined;
  if (!hasMethods(value, "addEventListener", "throwIfAborted")) throw wrong(name, "an AbortSignal", value);
  return value as AbortSignal;
}

/** Returns the bytes of a typed array, a `DataView`, an `ArrayBuffer` or a string (as UTF-8). */
export function bytes(value: unknown, name: string): Uint8Array {
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  throw wrong(name, "a string, a Uint8Array or an ArrayBuffer", value);
}

/** Returns the body of a request, an object, as JSON text. */
export function json(value: unknown, name: string): string {
  const written: string | undefined = JSON.stringify(object(value, name));
  if (written === undefined) throw wrong(name, "an object", value);
  return written;
}
