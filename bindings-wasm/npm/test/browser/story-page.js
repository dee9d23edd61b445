// The devices of story.test.js: each has a key of its own in this page's vault.
import { RailgateClient, indexedDbVault } from "railgate/client";

const devices = new Map();

/** The shown notification about a settlement, of this kind, once there is one. */
async function notified(kind, id) {
  const fits = (data) => data.kind === kind && data.settlement_id === id;
  return (await shown(fits)).map(({ data }) => data).find(fits);
}

globalThis.story = {
  /** Enrols a device of this user, subscribes it, and measures its calls by the hooks. */
  async enrolled(baseUrl, user, code, subscription) {
    const points = [];
    const measured = ({ url, ms, renews }, failed) => {
      if (renews) return;
      const [, id] = /\/mobile\/approvals\/(.*)$/.exec(url) ?? [];
      const metric = id === undefined ? "request.answer" : "approval.answer";
      const at = new Date().toISOString();
      points.push({ id: crypto.randomUUID(), metric, value: Math.round(ms), unit: "ms", at, app_version: "3.2.0", settlement: id, failed });
    };
    const hooks = { after: (request) => measured(request, false), error: (request) => measured(request, true) };
    const client = await RailgateClient.open({ baseUrl, vault: indexedDbVault({ profile: user }), hooks });
    devices.set(user, { client, points });
    await client.enrollDevice(code, { platform: "web", appVersion: "3.2.0" });
    const { application_server_key } = await client.call("GET", "/mobile/push-subscriptions");
    if (!/^[\w-]{87}$/.test(application_server_key)) throw new Error("PushManager.subscribe would not take this key");
    await client.call("POST", "/mobile/push-subscriptions", { body: subscription });
    // Otherwise a push names no payment.
    await client.call("PUT", "/mobile/preferences", { body: { detail: "full" } });
  },

  /** Approves what the push names, and returns the payment once it is final. */
  async approved(user, id) {
    const { client } = devices.get(user);
    const { settlement_id: named, amount, to } = await notified("approval.requested", id);
    const payment = await client.get(named);
    if (payment.amount !== amount || payment.to !== to) throw new Error("the push names another payment");
    await client.approve(payment);
    await client.settled(payment.reference);
    return client.get(named);
  },

  /** What the inbox tells of the payment, in order; how many are unread after that; what became of what was measured. */
  async told(user, id) {
    const { client, points } = devices.get(user);
    await notified("payment.completed", id);
    const told = [];
    const { data } = await client.call("GET", "/mobile/notifications", { query: { unread: true } });
    for await (const { kind, settlement_id } of client.followNotifications({ after: data.at(-1).id })) {
      if (settlement_id === id) told.push(kind);
      if (kind === "payment.completed") break;
    }
    const { unread_count: unread } = await client.call("POST", "/mobile/notifications/read-all");
    const taken = await client.call("POST", "/mobile/quality", { body: { items: points.splice(0, 500) } });
    await client.close();
    return { told, unread, taken };
  },
};
