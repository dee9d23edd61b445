/**
 * Keys that outlive a process, for servers: Node, Bun and Deno.
 *
 * @module
 */

import { type JsonWebKeyInput, type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { type FileHandle, link, mkdir, open, readFile, rename, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as check from "./check.js";
import type { Signer } from "./client/signer.js";
import { type Kept, type Vault, memoryVault } from "./client/vault.js";
import { StorageError } from "./errors.js";

export { RailgateError, StorageError } from "./errors.js";
export type { Signer } from "./client/signer.js";
export type { Kept, Vault } from "./client/vault.js";
export type { PublicJwk } from "./values.js";

/** A private P-256 key as a JWK (RFC 7517). */
export interface PrivateJwk {
  /** The key type. */
  readonly kty: string;
  /** The curve. */
  readonly crv?: string;
  /** The x coordinate in base64url. */
  readonly x?: string;
  /** The y coordinate in base64url. */
  readonly y?: string;
  /** The private key in base64url. */
  readonly d?: string;
}

/** What a key needs to be read. */
export interface KeyOptions {
  /** The passphrase of an encrypted PEM. */
  readonly passphrase?: string;
}

/**
 * A signer for a private P-256 key: PEM (PKCS #8 or SEC 1, also encrypted), or a JWK as an object or as JSON.
 *
 * @throws {TypeError} if it is none.
 */
export function keySigner(key: string | PrivateJwk, options: KeyOptions = {}): Signer {
  const { passphrase } = check.object(options, "options") as KeyOptions;
  return signerOf(read(key, passphrase));
}

/**
 * A vault with a key of yours, such as one from a secret manager. It keeps the session in memory: a new process asks for a token first,
 * and finds its client again by `enroll`, which does nothing else for a key that is enrolled.
 */
export function keyVault(key: string | PrivateJwk, options: KeyOptions = {}): Vault {
  return memoryVault(keySigner(key, options));
}

/**
 * A vault with the key in an environment variable, as PEM or JWK. In a PEM, `\n` may stand for the end of a line.
 *
 * @param name - The variable's name.
 * @throws {@link StorageError} if there is no such variable.
 */
export function environmentVault(name = "RAILGATE_KEY", options: KeyOptions = {}): Vault {
  const value = process.env[check.filled(name, "name")];
  if (value === undefined || value === "") throw new StorageError("storage_unavailable", `the environment variable ${name} is not set`);
  return keyVault(value.startsWith("{") ? value : value.replaceAll("\\n", "\n"), options);
}

/**
 * A vault in a file that only its owner can read (mode 0600): the key as PEM, made on first use. Processes may share it. The session is in
 * another file beside it, whose name ends in `.session`; it may be deleted at any time.
 *
 * Back the file up, or add a second key to the client with `addKey`: without a key, nobody speaks for the client.
 *
 * @param path - Where it is. Missing folders are made.
 */
export function fileVault(path: string | URL): Vault {
  const file = path instanceof URL ? fileURLToPath(path) : check.filled(path, "path");
  const beside = `${file}.session`;
  return {
    async signer() {
      return signerOf(read((await secret(file)) ?? (await makeKey(file))));
    },
    async read() {
      const text = await secret(beside);
      return text === undefined ? {} : kept(text, beside);
    },
    async write(next) {
      // Without a key there is nothing to keep: another process may have cleared the vault.
      if ((await secret(file)) === undefined) return;
      const made = await written(beside, JSON.stringify(next));
      await rename(made, beside).catch(async (error: unknown) => {
        await remove(made);
        throw failed(beside, error);
      });
    },
    async clear() {
      await remove(beside);
      await remove(file);
    },
  };
}

function read(key: string | PrivateJwk, passphrase?: string): KeyObject {
  const wrong = (cause?: unknown): never => {
    throw new TypeError("key must be a private P-256 key, as PEM or JWK", { cause });
  };
  let found: KeyObject;
  try {
    const jwk: unknown = typeof key === "string" && key.trimStart().startsWith("{") ? JSON.parse(key) : key;
    found =
      typeof jwk === "string"
        ? createPrivateKey(passphrase === undefined ? jwk : { key: jwk, passphrase })
        : createPrivateKey({ key: jwk as JsonWebKeyInput["key"], format: "jwk" });
  } catch (cause) {
    return wrong(cause);
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = found;
  return type === "ec" && details?.namedCurve === "prime256v1" ? found : wrong();
}

function signerOf(key: KeyObject): Signer {
  const { x = "", y = "" } = createPublicKey(key).export({ format: "jwk" });
  return {
    publicKey: { kty: "EC", crv: "P-256", x, y },
    sign: (data) => Promise.resolve(new Uint8Array(sign("sha256", data, { key, dsaEncoding: "ieee-p1363" }))),
  };
}

/** Makes a key, unless another process was faster; returns the one that is in the file. */
async function makeKey(file: string): Promise<string> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const made = await written(file, privateKey.export({ format: "pem", type: "pkcs8" }).toString());
  try {
    // Unlike a rename, it replaces nothing.
    await link(made, file);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw failed(file, error);
  } finally {
    await remove(made);
  }
  await synced(dirname(file));
  const key = await secret(file);
  if (key === undefined) throw new StorageError("storage_failed", `${file} was deleted while it was made`);
  return key;
}

/** The text of a file that only its owner can read; `undefined` if there is none. */
async function secret(file: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(file);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new StorageError("storage_unavailable", `${file} can be read or changed by others; run: chmod 600 ${file}`);
    }
    return await readFile(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw failed(file, error);
  }
}

/** Writes a new file that only its owner can read, beside `file`; returns its path. */
async function written(file: string, text: string): Promise<string> {
  // In containers every process may have the same number, and one that was killed leaves its file behind.
  const path = `${file}.${randomUUID()}`;
  let handle: FileHandle | undefined;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    handle = await open(path, "wx", 0o600);
    await handle.writeFile(text);
    await handle.sync();
    return path;
  } catch (error) {
    if (handle !== undefined) await remove(path);
    throw failed(path, error);
  } finally {
    await handle?.close();
  }
}

/** Makes a folder's new names durable, where the system can. */
async function synced(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

async function remove(file: string): Promise<void> {
  await unlink(file).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw failed(file, error);
  });
}

function kept(text: string, file: string): Kept {
  try {
    return JSON.parse(text) as Kept;
  } catch (cause) {
    throw new StorageError("storage_corrupt", `${file} is damaged; it may be deleted`, { cause });
  }
}

function failed(file: string, cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause;
  const code = codeOf(cause) === "ENOSPC" || codeOf(cause) === "EDQUOT" ? "storage_quota" : "storage_failed";
  return new StorageError(code, `${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}
