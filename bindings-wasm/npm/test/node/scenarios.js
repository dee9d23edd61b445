// The shared scenarios, recorded from the native engine.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../../tests/scenarios/", import.meta.url));

/** All of them, by name. */
export const scenarios = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".json"))
  .sort()
  .map((file) => JSON.parse(readFileSync(FOLDER + file, "utf8")));
