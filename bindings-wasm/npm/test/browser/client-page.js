// The script of client.test.js's pages.
import * as railgate from "railgate/client";
import { lyingFetch } from "../live/liar.js";
import { program } from "../program.js";

globalThis.railgate = railgate;
globalThis.lyingFetch = lyingFetch;
globalThis.program = program;
/** The result of a call: its value, or the members of its error. */
globalThis.outcome = (promise) =>
  promise.then(
    (value) => ({ value }),
    ({ name, code, message, reason, notSent }) => ({ error: { name, code, message, reason, notSent } }),
  );
