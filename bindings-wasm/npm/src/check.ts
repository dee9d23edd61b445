/**
 * Types of arguments, checked where JavaScript calls in: a wrong one is a `TypeError` that names it, and never reaches
 * the core's memory.
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

/** A string. */
export function text(value: unknown, name: string): string {
  if (typeof value !== "string") throw wrong(name, "a string", value);
  return value;
}

/** A string that is not empty. */
export function filled(value: unknown, name: string): string {
  const given = text(value, name);
  if (given === "") throw new TypeError(`${name} must not be empty`);
  return given;
}

/** What a header can carry: printable ASCII, at most 255 characters. */
export function header(value: unknown, name: string): string {
  const given = filled(value, name);
  if (!/^[ -~]{1,255}$/.test(given)) throw new TypeError(`${name} must be printable ASCII, at most 255 characters`);
  return given;
}

/** A plain object. */
export function object(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(name, "an object", value);
  return value as Readonly<Record<string, unknown>>;
}

/** A finite number. */
export function number(value: unknown, name: string): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw wrong(name, "a finite number", value);
  return value;
}

/** A time, in whole milliseconds since 1970. */
export function instant(value: unknown, name: string): number {
  return Math.floor(number(value instanceof Date ? value.getTime() : value, name));
}

/** A whole number of at least `least`. */
export function whole(value: unknown, name: string, least: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least) {
    throw new TypeError(`${name} must be a whole number of at least ${least}`);
  }
  return value;
}

/** True or false. */
export function flag(value: unknown, name: string): boolean {
  if (typeof value !== "boolean") throw wrong(name, "a boolean", value);
  return value;
}

/** Whether something has these methods: other realms and libraries have classes of their own for what the platform has. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === "function");
}

/** An `AbortSignal`, or nothing. */
export function signal(value: unknown, name: string): AbortSignal | undefined {
  if (value === undefined) return undefined;
  if (!hasMethods(value, "addEventListener", "throwIfAborted")) throw wrong(name, "an AbortSignal", value);
  return value as AbortSignal;
}

/** Bytes: a typed array, a `DataView`, an `ArrayBuffer`, or text, which becomes UTF-8. */
export function bytes(value: unknown, name: string): Uint8Array {
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  throw wrong(name, "a string, a Uint8Array or an ArrayBuffer", value);
}

/** A request's body as JSON text. */
export function json(value: unknown, name: string): string {
  const written: string | undefined = JSON.stringify(object(value, name));
  if (written === undefined) throw wrong(name, "an object", value);
  return written;
}
