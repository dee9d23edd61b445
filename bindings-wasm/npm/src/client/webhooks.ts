/**
 * The webhooks of a client: who is told what, and what was delivered.
 *
 * @module
 */

import type { RailgateClient } from "../client.js";
import { Listing, byCursor } from "../listing.js";
import type {
  Delivery,
  Page,
  Replay,
  ReplayRequest,
  SecretRotation,
  Webhook,
  WebhookPatch,
  WebhookRequest,
  WebhookTest,
  WebhookTestRequest,
} from "../types.js";
import type { DeliveryFilter } from "./options.js";
import type { RouteBasics } from "./routed.js";

/** What a client can do with its webhooks: {@link RailgateClient.webhooks}. */
export class Webhooks {
  readonly #client: Pick<RailgateClient, "call">;

  /** @internal */
  constructor(client: Pick<RailgateClient, "call">) {
    this.#client = client;
  }

  /**
   * Makes a webhook. Its `secret`, which verifies messages, is shown only in this response: keep it. If the response got lost, the
   * result has `secret_shown` instead; then {@link Webhooks.rotate} makes another one.
   */
  create(request: WebhookRequest, options: RouteBasics = {}): Promise<Webhook> {
    return this.#client.call("POST", "/webhooks", { ...options, body: request });
  }

  /** Returns all webhooks, oldest first. */
  async list(options: RouteBasics = {}): Promise<readonly Webhook[]> {
    return (await this.#client.call("GET", "/webhooks", options)).data;
  }

  /** Returns a webhook, by its `whk_` id. */
  get(id: string, options: RouteBasics = {}): Promise<Webhook> {
    return this.#client.call("GET", "/webhooks/{id}", { ...options, params: { id } });
  }

  /** Changes a webhook; what is left out stays. `enabled: false` stops its deliveries. */
  update(id: string, change: WebhookPatch, options: RouteBasics = {}): Promise<Webhook> {
    return this.#client.call("PATCH", "/webhooks/{id}", { ...options, params: { id }, body: change });
  }

  /** Removes a webhook. */
  async remove(id: string, options: RouteBasics = {}): Promise<void> {
    await this.#client.call("DELETE", "/webhooks/{id}", { ...options, params: { id } });
  }

  /** Delivers to a webhook again that was disabled. */
  enable(id: string, options: RouteBasics = {}): Promise<Webhook> {
    return this.#client.call("POST", "/webhooks/{id}/enable", { ...options, params: { id } });
  }

  /** Gives a webhook a new `secret`, which is shown only in this response. For `grace` seconds, a day by default, the old one signs too. */
  rotate(id: string, request: SecretRotation = {}, options: RouteBasics = {}): Promise<Webhook> {
    return this.#client.call("POST", "/webhooks/{id}/rotate-secret", { ...options, params: { id }, body: request });
  }

  /** Delivers an example now and returns the receiver's response. */
  test(id: string, request: WebhookTestRequest = {}, options: RouteBasics = {}): Promise<WebhookTest> {
    return this.#client.call("POST", "/webhooks/{id}/test", { ...options, params: { id }, body: request });
  }

  /** Returns what was delivered to a webhook or waits for it, newest first. */
  deliveries(id: string, filter: DeliveryFilter = {}, options: RouteBasics = {}): Listing<Page<Delivery>> {
    const read = (more: object) => {
      return this.#client.call("GET", "/webhooks/{id}/deliveries", { ...options, params: { id }, query: { ...filter, ...more } });
    };
    return new Listing(read, byCursor);
  }

  /** Returns one delivery, by its `dlv_` id. */
  delivery(id: string, delivery: string, options: RouteBasics = {}): Promise<Delivery> {
    return this.#client.call("GET", "/webhooks/{id}/deliveries/{delivery}", { ...options, params: { id, delivery } });
  }

  /** Delivers the same message once more, as a new delivery. */
  redeliver(id: string, delivery: string, options: RouteBasics = {}): Promise<Delivery> {
    return this.#client.call("POST", "/webhooks/{id}/deliveries/{delivery}/redeliver", { ...options, params: { id, delivery } });
  }

  /** Delivers the events of a period again. A long period takes several calls: pass `next_after` of the result as `after`. */
  replay(id: string, request: ReplayRequest, options: RouteBasics = {}): Promise<Replay> {
    return this.#client.call("POST", "/webhooks/{id}/replay", { ...options, params: { id }, body: request });
  }
}
