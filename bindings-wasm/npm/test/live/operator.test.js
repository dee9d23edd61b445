// An operator of the gateway, with the same client.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lyingFetch } from "./liar.js";
import { QUICK, enrolled, opened, operatorCode } from "./server.js";

test("an operator enrols with an invitation, reads what clients do, and acts on them", async (t) => {
  const shop = await enrolled(t);
  await shop.client.create({ amount: "10.50", currency: "EUR", to: "sim:pending", reference: "inv-1" });
  const id = shop.enrollment.client_id;

  // The answer to the second enrolment gets lost: it is done all the same.
  let enrolments = 0;
  const isSecond = ({ path }) => path.endsWith("/operator/enrollments") && (enrolments += 1) === 2;
  const lossy = lyingFetch((call) => (isSecond(call) ? "lost answer" : undefined));
  const ada = await opened(t, { environment: "live", fetch: lossy, patience: QUICK });
  await assert.rejects(ada.enrollOperator("opi_nonsense"), { code: "invitation_invalid" });
  const { operator, key_id, ...rest } = await ada.enrollOperator(operatorCode, "Ada L.");
  assert.deepEqual([operator.name, operator.role, key_id, "access_token" in rest], ["Ada L.", "agent", ada.keyId, false]);
  assert.equal(lossy.told.length, 1);
  assert.deepEqual([ada.enrolled, ada.clientId], [true, operator.id]);

  const { name, keys } = await ada.call("GET", "/operator/clients/{id}", { params: { id } });
  assert.deepEqual([name, keys.map(({ key_id }) => key_id)], ["Test shop", [shop.client.keyId]]);
  const clients = [];
  for await (const client of ada.all("/operator/clients", { query: { limit: 1 } })) clients.push(client.client_id);
  assert.ok(clients.includes(id));
  const { data } = await ada.call("GET", "/operator/settlements", { query: { client: id } });
  assert.deepEqual(data.map(({ reference, amount }) => [reference, amount]), [["inv-1", "10.50"]]);
  const about = await ada.call("GET", "/operator/settlements/{id}", { params: { id: data[0].id } });
  assert.deepEqual([about.settlement.reference, about.transfers[0].kind], ["inv-1", "pending"]);
  const overview = await ada.call("GET", "/operator/overview");
  assert.match(overview.figures[0].value, /^\d+\.\d{2}$/);

  await ada.call("POST", "/operator/clients/{id}/suspend", { params: { id }, body: { reason: "asked to" } });
  await assert.rejects(shop.client.balances(), { code: "client_suspended" });
  await ada.call("POST", "/operator/clients/{id}/resume", { params: { id }, body: { reason: "asked to" } });
  assert.ok((await shop.client.balances()).length > 0);
  // Two people decide about money.
  const body = { amount: "2500.00", currency: "EUR", evidence: "statement 7", reference: "wire-7", reason: "first deposit" };
  const asked = await ada.call("POST", "/operator/clients/{id}/deposits", { params: { id }, body });
  assert.deepEqual([asked.approval.act, asked.approval.status, asked.approval.asked_by], ["deposit", "pending", operator.id]);
  const acts = [];
  for await (const { action } of ada.all("/operator/audit", { query: { client: id, limit: 1 } })) acts.push(action);
  assert.ok(acts.length >= 3, String(acts));
  const routes = await ada.call("GET", "/operator/routes");
  await assert.rejects(ada.call("PUT", "/operator/routes", { ifMatch: '"7000"', body: { routes: routes.routes, reason: "contract of May" } }), { code: "version_conflict" });
  await assert.rejects(ada.call("POST", "/operator/operators", { body: { name: "Eve", role: "admin" } }), { code: "insufficient_scope" });
});
