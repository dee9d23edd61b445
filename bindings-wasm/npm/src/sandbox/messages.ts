/** The messages between the tabs of one sandbox. */

import type { Trouble } from "./errors.js";

/** The version of this protocol. A tab with another version is only recognised as such. */
export const PROTOCOL = 1;

/** The content of a message. */
export type Word = Hello | Opening | Leader | News | Nudge | Asked | Answered;

/** A message as sent. */
export type Message = Word & { readonly protocol: number };

/** A tab looks for the leader. The shape of this and of {@link Leader} is the same in every protocol version. */
export interface Hello {
  readonly kind: "hello";
}

/** This tab has the lock and is about to lead. Versions without this message ignore it. */
export interface Opening {
  readonly kind: "opening";
}

/** This tab is the leader: it alone runs the gateway. */
export interface Leader {
  readonly kind: "leader";
  readonly leader: string;
  /** Identifies the stored sandbox; changes when it is erased. */
  readonly era: string;
  /** When the next task is due, Unix milliseconds. */
  readonly due: number | undefined;
}

/** Something became durable. */
export interface News {
  readonly kind: "news";
  /** The number of the newest group. */
  readonly last: number;
  /** When the next task is due, Unix milliseconds. */
  readonly due: number | undefined;
}

/** A task is due but was not reported as done: browsers throttle the timers of a hidden tab, not its messages. */
export interface Nudge {
  readonly kind: "nudge";
}

/** A request for the leader. */
export interface Asked {
  readonly kind: "asked";
  readonly leader: string;
  readonly call: string;
  readonly request: string;
  readonly mutates: boolean;
  /** When any leader was first asked, Unix milliseconds: the answer to an old call may already have been deleted. */
  readonly since: number;
}

/** The leader's answer to one call. */
export interface Answered {
  readonly kind: "answered";
  /** The leader that answers. */
  readonly leader: string;
  readonly call: string;
  /** The gateway's answer, or the error. */
  readonly answer: string | Trouble;
}

/** Whether a value is a message. Other tabs have the same origin but may have another version. */
export function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "protocol" in value && "kind" in value;
}
