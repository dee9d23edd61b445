// Vaults for servers: real files, and keys of another program.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createPublicKey, verify } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { StorageError, environmentVault, fileVault, keySigner, keyVault } from "railgate/node";

const DATA = new TextEncoder().encode("what is signed");

async function folder(t) {
  const path = await mkdtemp(join(tmpdir(), "railgate-"));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

function genuine({ publicKey }, signature) {
  const key = createPublicKey({ key: { ...publicKey }, format: "jwk" });
  return verify("sha256", DATA, { key, dsaEncoding: "ieee-p1363" }, signature);
}

const openssl = (...args) => execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

test("keys of openssl sign, in every form", async (t) => {
  const at = await folder(t);
  const [sec1, pkcs8, locked] = ["sec1.pem", "pkcs8.pem", "locked.pem"].map((name) => join(at, name));
  await writeFile(sec1, openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout"));
  await writeFile(pkcs8, openssl("pkcs8", "-topk8", "-nocrypt", "-in", sec1));
  await writeFile(locked, openssl("pkcs8", "-topk8", "-passout", "pass:secret", "-in", sec1));
  const [one, two] = [keySigner(await readFile(sec1, "utf8")), keySigner(await readFile(pkcs8, "utf8"))];
  const three = keySigner(await readFile(locked, "utf8"), { passphrase: "secret" });
  for (const signer of [one, two, three]) {
    assert.deepEqual(signer.publicKey, one.publicKey);
    const signature = await signer.sign(DATA);
    assert.ok(signature.length === 64 && genuine(signer, signature));
  }
  const large = openssl("ecparam", "-name", "secp384r1", "-genkey", "-noout");
  const rsa = openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048");
  for (const wrong of [large, rsa, "", "{}", "no key", { kty: "EC" }, one.publicKey, await readFile(locked, "utf8"), undefined, 7]) {
    assert.throws(() => keySigner(wrong), TypeError);
  }
});

test("a JWK signs, as an object, as JSON and from the environment", async (t) => {
  const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]);
  const jwk = await crypto.subtle.exportKey("jwk", privateKey);
  const { x } = await crypto.subtle.exportKey("jwk", publicKey);
  process.env.TEST_KEY = JSON.stringify(jwk);
  process.env.TEST_PEM = (await import("node:crypto")).createPrivateKey({ key: jwk, format: "jwk" }).export({ type: "pkcs8", format: "pem" }).replaceAll("\n", "\\n");
  t.after(() => ["TEST_KEY", "TEST_PEM"].forEach((name) => delete process.env[name]));
  for (const vault of [keyVault(jwk), keyVault(JSON.stringify(jwk)), environmentVault("TEST_KEY"), environmentVault("TEST_PEM")]) {
    const signer = await vault.signer();
    assert.ok(signer.publicKey.x === x && !("d" in signer.publicKey) && genuine(signer, await signer.sign(DATA)));
    assert.deepEqual(await vault.read(), {});
    await vault.write({ session: "s" });
    assert.deepEqual(await vault.read(), { session: "s" });
  }
  assert.throws(() => environmentVault("NOT_SET"), (error) => error instanceof StorageError && /NOT_SET is not set/.test(error.message));
});

test("a file keeps key and session, for its owner alone", async (t) => {
  const file = join(await folder(t), "deep", "er", "railgate.pem");
  const vault = fileVault(file);
  const { publicKey } = await vault.signer();
  await mkdir(`${file}.session`);
  await assert.rejects(vault.write({ session: "s" }), StorageError);
  await rm(`${file}.session`, { recursive: true });
  assert.deepEqual(await readdir(join(file, "..")), ["railgate.pem"], "a write that fails leaves nothing behind");
  await vault.write({ session: "s", clientId: "cli_1", keyId: "k" });
  for (const path of [file, `${file}.session`]) assert.equal((await stat(path)).mode & 0o777, 0o600);
  // Another process, by another name of the file.
  const again = fileVault(pathToFileURL(file));
  const signer = await again.signer();
  assert.deepEqual(signer.publicKey, publicKey);
  assert.ok(genuine(signer, await signer.sign(DATA)));
  assert.deepEqual(await again.read(), { session: "s", clientId: "cli_1", keyId: "k" });
  assert.match(openssl("pkey", "-in", file, "-noout", "-text"), /prime256v1/);
  await again.clear();
  assert.deepEqual(await readdir(join(file, "..")), []);
  await vault.write({ session: "late" });
  assert.deepEqual(await readdir(join(file, "..")), [], "nothing is kept without a key");
  assert.notDeepEqual((await vault.signer()).publicKey, publicKey);
});

test("processes that start at once share one key", async (t) => {
  const at = await folder(t);
  const script = `import { fileVault } from "railgate/node"; console.log((await fileVault(process.argv[1]).signer()).publicKey.x);`;
  const run = promisify(execFile);
  const starts = Array.from({ length: 8 }, () => run(process.execPath, ["--input-type=module", "-e", script, join(at, "key.pem")], { cwd: import.meta.dirname }));
  const keys = new Set((await Promise.all(starts)).map(({ stdout }) => stdout));
  assert.equal(keys.size, 1);
  assert.deepEqual(await readdir(at), ["key.pem"]);
});

test("a file that others can read, or that is damaged, is not used", async (t) => {
  const file = join(await folder(t), "key.pem");
  const vault = fileVault(file);
  await vault.signer();
  await writeFile(`${file}.session`, "{", { mode: 0o600 });
  await assert.rejects(vault.read(), (error) => error instanceof StorageError && error.code === "storage_corrupt" && error.message.includes(".session"));
  await chmod(file, 0o644);
  await assert.rejects(vault.signer(), (error) => error instanceof StorageError && error.message.includes(`chmod 600 ${file}`));
  await writeFile(file, "no key", { mode: 0o600 });
  await chmod(file, 0o600);
  await assert.rejects(vault.signer(), TypeError);
  await assert.rejects(fileVault(join(file, "below", "key.pem")).signer(), StorageError);
});
