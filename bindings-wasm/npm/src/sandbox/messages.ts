/** What the tabs of one sandbox say to each other. */

import type { Trouble } from "./errors.js";

/** Of this protocol. Tabs that speak another one only recognise that they do. */
export const PROTOCOL = 1;

/** What one tab has to say. */
export type Word = Hello | Opening | Leader | News | Nudge | Asked | Answered;

/** As it travels. */
export type Message = Word & { readonly protocol: number };

/** A tab came and looks for the leader. The shape of this and of {@link Leader} is the same in every protocol. */
export interface Hello {
  readonly kind: "hello";
}

/** This tab holds the lock and is about to lead. A version that does not know this word takes no notice. */
export interface Opening {
  readonly kind: "opening";
}

/** This tab leads: it alone has the gateway. */
export interface Leader {
  readonly kind: "leader";
  readonly leader: string;
  /** Names the stored sandbox; another one after it was erased. */
  readonly era: string;
  /** When the next task is due, Unix milliseconds. */
  readonly due: number | undefined;
}

/** Something became durable. */
export interface News {
  readonly kind: "news";
  /** The newest group. */
  readonly last: number;
  /** When the next task is due, Unix milliseconds. */
  readonly due: number | undefined;
}

/** A task was due and nothing was heard of it: browsers slow the timers of a hidden tab down, not its messages. */
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
  /** When it, or a leader before it, was asked first, Unix milliseconds: what was asked long ago may have been done and forgotten. */
  readonly since: number;
}

/** The leader's answer to one call. */
export interface Answered {
  readonly kind: "answered";
  /** Whose answer it is. */
  readonly leader: string;
  readonly call: string;
  /** The gateway's answer, or why there is none. */
  readonly answer: string | Trouble;
}

/** A message, if that is what it is. Other tabs are of the same origin, though not of the same version. */
export function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "protocol" in value && "kind" in value;
}
