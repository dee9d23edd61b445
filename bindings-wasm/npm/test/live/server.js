// The server of the tests, which tests/tests/browser.rs starts.
import { RailgateClient, generateSigner } from "railgate/client";

const url = process.env.RAILGATE_TEST_SERVER;
if (url === undefined) throw new Error("RAILGATE_TEST_SERVER must be the address of a server, such as http://127.0.0.1:8080");

/** Its address. */
export const baseUrl = url;

/** A server that takes only invited clients, and an invitation, which serves once. */
export const inviting = { baseUrl: process.env.RAILGATE_TEST_INVITING, invitation: process.env.RAILGATE_TEST_INVITATION };

/** The code of an invitation to be an operator of the first, which serves once. */
export const operatorCode = process.env.RAILGATE_TEST_OPERATOR;

/** Short pauses, because this server may be called often. */
export const QUICK = { attempts: 12, timeoutMs: 60_000, pauseMs: 5, longestPauseMs: 50 };
/** The same for withheld responses: the timeout must pass. A slow server may exceed it, too. */
export const HASTY = { ...QUICK, timeoutMs: 2_000 };

/** A client with a new key, for the duration of the test. */
export async function opened(context, options = {}) {
  const key = options.vault === undefined && options.signer === undefined ? { signer: await generateSigner() } : {};
  const client = await RailgateClient.open({ baseUrl, ...key, ...options });
  context.after(() => client.close());
  return client;
}

/** An enrolled client with a new key. */
export async function enrolled(context, options = {}) {
  const client = await opened(context, options);
  const enrollment = await client.enroll("Test shop");
  return { client, enrollment };
}
