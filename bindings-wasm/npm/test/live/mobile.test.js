// A backend and the devices of its users, with the same client.
import assert from "node:assert/strict";
import { test } from "node:test";
import { enrolled, opened } from "./server.js";

const limits = [{ currency: "EUR", approval_over: "100.00" }];
const pay = (reference, amount, more = {}) => ({ amount, currency: "EUR", to: "sim:ok", reference, ...more });

/** A device with a new key, enrolled with a code that the backend made. */
async function device(t, backend, user) {
  const made = await backend.call("POST", "/mobile/enrollment-codes", { body: { user, limits } });
  assert.match(made.link, /^railgate:enroll\?code=/);
  assert.match(made.qr, /^<svg/);
  const client = await opened(t);
  const { device, ...rest } = await client.enrollDevice(made.code.toLowerCase(), { platform: "web", name: `browser of ${user}` });
  assert.deepEqual([device.user, device.key_id, "access_token" in rest], [user, client.keyId, false]);
  return { client, device, made };
}

test("a payment waits until its user approves it on a device", async (t) => {
  const { client: backend } = await enrolled(t);
  const { client: phone, made } = await device(t, backend, "ada");
  await assert.rejects((await opened(t)).enrollDevice(made.code, { platform: "web" }), { code: "device_code_invalid" });
  // Enrolled once: whoever asks again finds that out.
  const again = await phone.enrollDevice(made.code, { platform: "web" });
  assert.equal(again.device.key_id, phone.keyId);

  const { settlement: waiting } = await backend.create(pay("p-1", "250.00", { user: "ada" }));
  assert.deepEqual([waiting.status, waiting.approval.status, waiting.user], ["accepted", "pending", "ada"]);
  const [shown] = await phone.paymentApprovals();
  assert.deepEqual(shown, waiting);
  const approved = await phone.approve(shown, "Ada's shop");
  assert.equal(approved.approval.status, "approved");
  assert.equal((await phone.settled("p-1")).status, "completed");
  await assert.rejects(phone.decline(shown, "changed my mind"), { code: "approval_decided" });
  const events = await phone.events("p-1");
  const { data } = events.data.find(({ type }) => type === "approval.approved");
  assert.deepEqual(data.shown, { amount: "250.00", currency: "EUR", payee_name: "Ada's shop", reference: "p-1", to: "sim:ok" });
});

test("a device sees its user's payments, and is revoked", async (t) => {
  const { client: backend } = await enrolled(t);
  const ada = await device(t, backend, "ada");
  const bob = await device(t, backend, "bob");
  const { settlement: mine } = await ada.client.create(pay("p-1", "10.00"));
  await assert.rejects(bob.client.get("p-1"), { code: "settlement_not_found" });
  assert.deepEqual((await backend.list({ user: "ada" })).data.map(({ id }) => id), [mine.id]);
  const { settlement: large } = await bob.client.create(pay("p-2", "101.00"));
  assert.equal((await bob.client.decline(large, "not now")).status, "cancelled");
  const { data } = await backend.call("GET", "/mobile/devices", { query: { user: "bob" } });
  await backend.call("DELETE", "/mobile/devices/{id}", { params: { id: data[0].id } });
  await assert.rejects(bob.client.paymentApprovals(), ({ code }) => ["token_invalid", "key_revoked"].includes(code));
});
