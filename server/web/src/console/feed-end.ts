/** Where a client's feed of events ends, so that a page follows what is new and reads nothing old. */

import { type RailgateClient, RailgateError } from "railgate/client";

/** What is after a position: events, nothing yet, or nothing because the feed is not that long. */
type After = "events" | "nothing" | "no such place";

/**
 * The position of the newest event. The feed has no gaps, so growing steps from `from`, a position that was the end once, pass the end, and
 * halving finds it: few calls if little happened since.
 */
export async function feedEnd(client: RailgateClient, from: number, signal: AbortSignal): Promise<number> {
  const look = async (after: number): Promise<After> => {
    try {
      return (await client.feed({ after, limit: 1, signal })).data.length > 0 ? "events" : "nothing";
    } catch (error) {
      if (error instanceof RailgateError && error.code === "epoch_changed") return "no such place";
      throw error;
    }
  };
  const here = await look(from);
  if (here === "nothing") return from;
  // A backup was restored: the feed is shorter than it was.
  if (here === "no such place") return feedEnd(client, 0, signal);
  return between(look, from);
}

/** The end of a feed that has events after `from`. */
async function between(look: (after: number) => Promise<After>, from: number): Promise<number> {
  let low = from;
  let high = from + 1;
  for (let step = 4; ; step *= 4) {
    const found = await look(high);
    if (found === "nothing") return high;
    if (found === "no such place") break;
    [low, high] = [high, high + step];
  }
  // There are events after `low`, and the feed ends before `high`.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const found = await look(middle);
    if (found === "nothing") return middle;
    if (found === "events") low = middle;
    else high = middle;
  }
  return low;
}
