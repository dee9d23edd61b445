/** The configuration of a provider: what an operator writes, without what the gateway adds when it is read. */

import type { Operators } from "railgate/client";

/** What an operator writes of a provider; the reason is asked for when it is saved. */
export type ProviderConfig = Omit<Operators.PutProviderRequest, "reason">;

const ADDED: ReadonlySet<string> = new Set(["p95_ms", "secret_names", "status", "success_rate", "version"]);

/** What is written, and only that. */
export function configOf(provider: object): ProviderConfig {
  return Object.fromEntries(
    Object.entries(provider).filter(([name, value]) => !ADDED.has(name) && value !== null && value !== undefined),
  ) as unknown as ProviderConfig;
}
