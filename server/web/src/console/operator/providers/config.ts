/** The configuration of a provider: what an operator writes, without what the gateway adds when it is read. */

import type { Json, Operators } from "railgate/client";
import { text } from "../../../shared/text";
import { type Change, changesOf } from "../changes";

/** What an operator writes of a provider; the reason is asked for when it is saved. */
export type ProviderConfig = Omit<Operators.PutProviderRequest, "reason">;

const ADDED: ReadonlySet<string> = new Set(["p95_ms", "reason", "secret_names", "status", "success_rate", "version"]);

/** What is written, and only that. */
export function configOf(provider: object): ProviderConfig {
  return Object.fromEntries(
    Object.entries(provider).filter(([name, value]) => !ADDED.has(name) && value !== null && value !== undefined),
  ) as unknown as ProviderConfig;
}

/** What a configuration changes at a provider, or at none that there is yet. */
export function changesAt(now: Operators.OperatedProvider | undefined, config: object): readonly Change[] {
  const after = configOf(config);
  const before = now && configOf(now);
  // Secrets replace all that there are, so those that they do not name go. Without any, all stay.
  const names = after.secrets === undefined ? [] : (now?.secret_names ?? []);
  const secrets = Object.fromEntries(names.map((name) => [name, text.operator.providers.secretNow]));
  return changesOf(before && ({ ...before, secrets } as unknown as Json), after as unknown as Json);
}
