/** The way from a {@link Sandbox} to its gateway, wherever that runs. */

import type { Changes } from "./changes.js";

/** How a request is sent. */
export interface Sending {
  /** Asking twice would do it twice: the answer is kept with its effect, so that a repetition is recognised. */
  readonly mutates: boolean;
  /** Gives up waiting. What has begun is carried out all the same. */
  readonly signal: AbortSignal | undefined;
}

/** A gateway that answers. */
export interface Port {
  /** Hears of every durable change. */
  readonly changes: Changes;
  /** Whether the gateway runs in this very page. */
  readonly leads: boolean;
  /** Sends a request (JSON text), gives the answer (JSON text) once its effects are durable. */
  request(request: string, sending: Sending): Promise<string>;
  /** Finishes and lets go. */
  close(): Promise<void>;
}
