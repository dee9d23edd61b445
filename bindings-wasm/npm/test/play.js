// Plays the shared scenarios (tests/scenarios/*.json) through the parts of the sandbox: gateway, groups, storage. Runs
// in Node and in pages.

import { Keeper } from "../dist/sandbox/keeper.js";
import { openGateway } from "../dist/sandbox/open.js";
import { drawn } from "../dist/sandbox/sheet.js";

/** An answer as users of the package get it: with the receipt drawn from its parts. */
async function shown(answer) {
  if (!answer.includes('"parts":')) return answer;
  const { status, ok } = JSON.parse(answer);
  return JSON.stringify({ status, ok: { content_type: ok.content_type, text: await drawn(ok) } });
}

const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => Number.parseInt(pair, 16));

/** A sandbox for a scenario: `start` reopens it over the stored state, and `advance` advances its clock. */
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
 * Plays one scenario; `storage` opens the stored state, again for each start. Returns every answer that differs from the
 * native engine's by any character.
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
