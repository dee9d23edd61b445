// What the pages of client.test.js have at hand.
import * as railgate from "railgate/client";
import { lyingFetch } from "../live/liar.js";

globalThis.railgate = railgate;
globalThis.lyingFetch = lyingFetch;
/** What a call came to: its value, or what its error says. */
globalThis.outcome = (promise) =>
  promise.then(
    (value) => ({ value }),
    ({ name, code, message }) => ({ error: { name, code, message } }),
  );
