// The script of the test pages: the package, and internal parts of the sandbox.

import { indexedDbVault } from "../../dist/client.js";
import * as railgate from "../../dist/index.js";
import { UPGRADES, databaseName, openIndexedDb } from "../../dist/sandbox/indexeddb.js";
import { Keeper } from "../../dist/sandbox/keeper.js";
import { openGateway } from "../../dist/sandbox/open.js";
import { play } from "../play.js";
import { program } from "../program.js";

globalThis.railgate = railgate;
globalThis.parts = { indexedDbVault, Keeper, UPGRADES, databaseName, openGateway, openIndexedDb, play, program };
