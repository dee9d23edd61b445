// An unreliable network: requests that never arrive, responses that are lost or late, calls that arrive twice.

/** What can happen to a call. */
export const LIES = ["lost request", "lost answer", "twice", "late"];

const broken = () => new TypeError("fetch failed (the test's network)");

/** A `fetch` whose behaviour `decide(call)` chooses: one of the lies, or nothing. `told` collects the lies. */
export function lyingFetch(decide) {
  const told = [];
  const lying = async (url, init) => {
    const call = { method: init.method, path: new URL(url).pathname };
    const lie = decide(call);
    if (lie !== undefined) told.push({ lie, ...call });
    if (lie === "lost request") throw broken();
    if (lie === "twice") await drained(await fetch(url, init));
    const answer = await fetch(url, init);
    if (lie === "lost answer") {
      await drained(answer);
      throw broken();
    }
    if (lie === "late") {
      await drained(answer);
      await ended(init.signal);
      throw init.signal.reason;
    }
    return answer;
  };
  return Object.assign(lying, { told });
}

/** The response was sent completely, and nobody read it. */
async function drained(answer) {
  await answer.arrayBuffer();
}

function ended(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", resolve, { once: true });
  });
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
