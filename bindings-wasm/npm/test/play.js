// Plays the shared scenarios (tests/scenarios/*.json) through the sandbox's own machinery: gateway, groups, storage. Runs
// in Node and in pages.

import { Keeper } from "../dist/sandbox/keeper.js";
import { openGateway } from "../dist/sandbox/open.js";
import { drawn } from "../dist/sandbox/sheet.js";

/** An answer as a user of the package comes to see it: a receipt that is left to be drawn is drawn. */
async function shown(answer) {
  if (!answer.includes('"parts":')) return answer;
  const { status, ok } = JSON.parse(answer);
  return JSON.stringify({ status, ok: { content_type: ok.content_type, text: await drawn(ok) } });
}

const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => Number.parseInt(pair, 16));

/** A sandbox that starts as a scenario says: `start` opens it anew over what was kept, and its clock goes on by `advance`. */
export async function stage({ seed, start_ms }, storage) {
  const open = await openGateway();
  let now = start_ms;
  let keeper;
  const start = async (seed) => {
    const parts = { open, storage: await storage(), now: () => now, seed: () => bytes(seed), automatic: false, changed() {}, lost() {} };
    keeper = await Keeper.open(parts);
  };
  await start(seed);
  return {
    ask: (request) => new Promise((resolve, reject) => keeper.submit({ request, keep: undefined, signal: undefined, resolve, reject })),
    work: () => keeper.work(),
    advance: (ms) => (now += ms),
    restart: async (seed) => {
      await keeper.close();
      await start(seed);
    },
    close: () => keeper.close(),
  };
}

/**
 * Plays one scenario; `storage` gives what is kept, anew for each start. Gives every answer that is not, to the character,
 * the one that the native engine gave.
 */
export async function play(scenario, storage) {
  const played = await stage(scenario, storage);
  const different = [];
  let answers = 0;
  for (const [at, { advance_ms, restart, work, call, answer }] of scenario.steps.entries()) {
    if (advance_ms !== undefined) {
      played.advance(advance_ms);
    } else if (restart !== undefined) {
      await played.restart(restart);
    } else {
      const given = work === undefined ? await shown(await played.ask(call)) : await played.work();
      answers += 1;
      if (given !== answer) different.push({ at, call, wanted: answer, given });
    }
  }
  await played.close();
  return { answers, different };
}
