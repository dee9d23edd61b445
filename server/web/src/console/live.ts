/** What changes while somebody looks, as it happens, and whether the gateway responds. */

import { signal } from "@preact/signals";
import { type HookFailure, type HookResponse, type RailgateClient, RailgateError, type SettlementEvent } from "railgate/client";
import type { Identity } from "./session";

/** Whether the gateway does not respond at the moment. */
export const lost = signal(false);
/** Whether it responds again since a moment; the banner says so for a while. */
export const back = signal(false);

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
const SHOWN_MS = 4_000;

type Listener = (event: SettlementEvent | undefined) => void;
const listeners = new Set<Listener>();
let running: AbortController | undefined;
let unlisten: (() => void) | undefined;
/** How tabs of one identity tell each other; only the one that follows events leads. */
let channel: BroadcastChannel | undefined;
let leads = false;

/** What the tab that follows says to the others. */
type Word = { readonly event: SettlementEvent | undefined } | { readonly responds: boolean };

function pass(word: Word): void {
  channel?.postMessage(word);
}

function hear({ data }: MessageEvent<Word>): void {
  if ("event" in data) tell(data.event);
  else if (data.responds) answered({ status: 200 } as HookResponse);
  else lost.value = true;
}

/** Calls `listener` at each event, and with none when anything may have changed, as after a lost connection. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(event: SettlementEvent | undefined): void {
  for (const listener of [...listeners]) listener(event);
}

/** A response of the gateway, whatever it says, except a proxy's that has no gateway behind it. */
export function answered({ status }: HookResponse): void {
  if (status === 502 || status === 504) return unanswered();
  if (!lost.value) return;
  if (leads) pass({ responds: true });
  lost.value = false;
  back.value = true;
  setTimeout(() => (back.value = false), SHOWN_MS);
  // What follows events learns of them by itself, but not of what happened to anything else.
  tell(undefined);
}

/** No response. A call that was given up does not count. */
export function unanswered(failure?: HookFailure): void {
  if (failure?.error instanceof Error && failure.error.name !== "TypeError") return;
  lost.value = true;
  back.value = false;
  if (leads) pass({ responds: false });
  else void probe();
}

let probing = false;
/** Asks until the gateway responds, for those who follow no events. */
async function probe(): Promise<void> {
  if (probing) return;
  probing = true;
  for (let pause = FIRST_PAUSE_MS; lost.value; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const response = await fetch("/healthz", { cache: "no-store" }).catch(() => undefined);
    if (response?.ok === true) answered({ status: response.status } as HookResponse);
  }
  probing = false;
}

/**
 * Follows a client's events, or what changes for operators, until {@link stopLive}.
 *
 * Browsers open six connections to a server, whatever the number of tabs: so one tab follows, and tells the others.
 */
export function startLive(client: RailgateClient, kind: Identity["kind"]): void {
  stopLive();
  const news = kind === "client" ? eventsOf(client) : changesFor(client);
  const begin = (): void => {
    const ended = new AbortController();
    running = ended;
    const opened = new BroadcastChannel(`railgate.${client.keyId}`);
    channel = opened;
    channel.onmessage = hear;
    const lead = async (): Promise<void> => {
      leads = true;
      await follow(news, ended.signal);
    };
    ended.signal.addEventListener("abort", () => {
      opened.close();
      leads = false;
    });
    navigator.locks.request(opened.name, { signal: ended.signal }, lead).catch(() => undefined);
  };
  begin();
  // A page that is left, and kept for the way back, must not keep its connection.
  const hide = (): void => running?.abort();
  const show = ({ persisted }: PageTransitionEvent): void => {
    if (!persisted) return;
    begin();
    tell(undefined);
  };
  globalThis.addEventListener("pagehide", hide);
  globalThis.addEventListener("pageshow", show);
  unlisten = () => {
    globalThis.removeEventListener("pagehide", hide);
    globalThis.removeEventListener("pageshow", show);
  };
}

export function stopLive(): void {
  unlisten?.();
  running?.abort();
  [unlisten, running, channel] = [undefined, undefined, undefined];
  lost.value = false;
}

/** News since a place, each with its own; the event that it is, if it is one. */
type News = (place: number | undefined, signal: AbortSignal) => AsyncIterable<readonly [place: number, event: SettlementEvent | undefined]>;

const eventsOf = (client: RailgateClient): News =>
  async function* (place, signal) {
    let after = place;
    if (after === undefined) {
      // Only what is new: the views have read the rest, but nobody followed meanwhile.
      after = (await client.call("GET", "/gateway/events", { query: { after: "latest", limit: 1 }, signal })).next_after;
      yield [after, undefined];
    }
    for await (const { position, event } of client.followFeed({ after, attempts: 1, signal })) yield [position, event];
  };

const changesFor = (client: RailgateClient): News =>
  async function* (after, signal) {
    for await (const { mark } of client.followChanges({ after, attempts: 1, signal })) yield [mark, undefined];
  };

async function follow(news: News, signal: AbortSignal): Promise<void> {
  let after: number | undefined;
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    try {
      for await (const [place, event] of news(after, signal)) {
        after = place;
        pause = FIRST_PAUSE_MS;
        tell(event);
        pass({ event });
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RailgateError) {
        // After a restored backup, positions are assigned again.
        if (error.code === "epoch_changed") after = undefined;
        // The key has no access: nothing to follow, and the views say why.
        if (error.status === 401 || error.status === 403) return;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}
