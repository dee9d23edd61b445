/** Connects a {@link Sandbox} to its gateway, in this tab or another. */

import type { Changes } from "./changes.js";

/** How a request is sent. */
export interface Sending {
  /** The call changes something: its answer is stored with its effect, so that a repetition is recognised. */
  readonly mutates: boolean;
  /** Stops waiting. A call that has begun is executed anyway. */
  readonly signal: AbortSignal | undefined;
}

/** Access to a gateway. */
export interface Port {
  /** Reports every durable change. */
  readonly changes: Changes;
  /** Whether the gateway runs in this page. */
  readonly leads: boolean;
  /** Sends a request (JSON text); resolves with the answer (JSON text) when its effects are durable. */
  request(request: string, sending: Sending): Promise<string>;
  /** Finishes pending calls and releases the gateway. */
  close(): Promise<void>;
}
