/** Where keys are: in the browser's database, which stores keys that nobody can copy. */

import { type Vault, indexedDbVault } from "railgate/client";

/** A vault for the key alone: the session, which has a token, is not written anywhere. */
export function keyVault(database: string, profile: string): Vault {
  const inner = indexedDbVault({ database, profile });
  return {
    signer: () => inner.signer(),
    read: () => inner.read(),
    write: ({ clientId, keyId }) => inner.write({ clientId, ...(keyId === undefined ? {} : { keyId }) }),
    clear: () => inner.clear(),
  };
}
