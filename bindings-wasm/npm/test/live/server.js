// The server that the tests are run against: started by whoever runs them (tests/tests/browser.rs).
import { RailgateClient, generateSigner } from "railgate/client";

const url = process.env.RAILGATE_TEST_SERVER;
if (url === undefined) throw new Error("RAILGATE_TEST_SERVER must be the address of a server, such as http://127.0.0.1:8080");

/** Where it is. */
export const baseUrl = url;

/** Short pauses: nobody is hurt by asking this server often. */
export const QUICK = { attempts: 12, timeoutMs: 60_000, pauseMs: 5, longestPauseMs: 50 };
/** The same where answers are kept back: what has to be waited for is the time-out. A slow server may meet it, too. */
export const HASTY = { ...QUICK, timeoutMs: 2_000 };

/** A client with a key of its own, for as long as the test. */
export async function opened(context, options = {}) {
  const key = options.vault === undefined && options.signer === undefined ? { signer: await generateSigner() } : {};
  const client = await RailgateClient.open({ baseUrl, ...key, ...options });
  context.after(() => client.dispose());
  return client;
}

/** The same, enrolled. */
export async function enrolled(context, options = {}) {
  const client = await opened(context, options);
  const enrollment = await client.enroll("Test shop");
  return { client, enrollment };
}
