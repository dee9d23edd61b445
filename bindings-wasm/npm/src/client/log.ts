/**
 * The transparency log of all events, as its witnesses read it.
 *
 * @module
 */

import type { RailgateClient } from "../client.js";
import type { CallOptions } from "./options.js";

/** The log of the client's environment: {@link RailgateClient.log}. */
export class Log {
  readonly #client: Pick<RailgateClient, "call">;

  /** @internal */
  constructor(client: Pick<RailgateClient, "call">) {
    this.#client = client;
  }

  /** Returns the signed checkpoint: size and root of the tree. */
  checkpoint(options: CallOptions = {}): Promise<string> {
    return this.#client.call("GET", "/log/checkpoint", { ...options, accept: "text/plain" });
  }

  /** Returns the public keys that sign checkpoints, one a line. */
  keys(options: CallOptions = {}): Promise<string> {
    return this.#client.call("GET", "/log/keys", { ...options, accept: "text/plain" });
  }

  /** Returns a tile of the tree, such as `0/000`: its hashes, 32 bytes each. */
  tile(tile: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#client.call("GET", "/log/tile/{tile}", { ...options, params: { tile }, accept: "application/octet-stream" });
  }
}
