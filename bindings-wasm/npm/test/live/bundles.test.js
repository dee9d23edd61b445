// A partner's bundle, with the same client.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { enrolled } from "./server.js";

const docs = await readFile(new URL("../../../../docs/bundles.md", import.meta.url), "utf8");
const example = JSON.parse(/^```json\n([^]*?)^```$/m.exec(docs)[1]);
// In the sandbox, an endpoint may be on the same machine; nothing listens here.
example.manifest.sandbox.base_url = "http://127.0.0.1:9";

test("a partner writes, edits, submits and withdraws a bundle", async (t) => {
  const { client: partner } = await enrolled(t);
  const made = await partner.call("POST", "/bundles", { body: example });
  assert.deepEqual([made.status, made.revision, made.secrets.sandbox], ["draft", 1, ["callback_secret", "token"]]);
  const params = { id: made.id };
  const manifest = { ...example.manifest, name: "Acme Pay Ltd" };
  const edited = await partner.call("PUT", "/bundles/{id}", { params, ifMatch: `"${made.version}"`, body: { manifest } });
  assert.equal(edited.revision, 2);
  const stale = partner.call("PUT", "/bundles/{id}", { params, ifMatch: `"${made.version}"`, body: { manifest } });
  await assert.rejects(stale, { code: "version_conflict" });

  const submitted = await partner.call("POST", "/bundles/{id}/submit", { params, body: { comment: "Ready." } });
  assert.equal(submitted.status, "submitted");
  await partner.call("POST", "/bundles/{id}/comments", { params, body: { comment: "Is this right?", pointer: "/manifest/limits/KES/max" } });
  // The test finds that nothing listens there.
  let tested;
  do tested = await partner.call("GET", "/bundles/{id}", { params });
  while (["waiting", "running"].includes(tested.conformance));
  assert.equal(tested.conformance, "failed");
  const { report } = await partner.call("GET", "/bundles/{id}/conformance", { params });
  assert.ok(report.checks.some(({ result }) => result === "failed"));
  assert.ok(["waiting", "running", "failed"].includes((await partner.call("POST", "/bundles/{id}/test", { params, body: { comment: "Again." } })).conformance));
  const withdrawn = await partner.call("POST", "/bundles/{id}/withdraw", { params, body: { comment: "Later." } });
  assert.equal(withdrawn.status, "withdrawn");

  const { data } = await partner.call("GET", "/bundles/{id}/timeline", { params });
  const steps = data.map(({ type }) => type);
  for (const step of ["submitted", "commented", "withdrawn"]) assert.ok(steps.includes(`bundle.${step}`), `${step} is not among ${steps}`);
  const listed = [];
  for await (const { id } of partner.all("/bundles", { query: { limit: 1 } })) listed.push(id);
  assert.deepEqual(listed, [made.id]);
});
