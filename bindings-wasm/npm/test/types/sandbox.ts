// Correct TypeScript code with the sandbox must compile, wrong code must not. Nothing here runs.
import { EventWatch, Sandbox, StorageError, ValidationError, type FeedEvent, type SettlementEvent, type SandboxOptions, type Settlement } from "railgate";

/** Fails to compile if `Actual` is wider or narrower. */
type Same<Actual, Expected> = [Actual] extends [Expected] ? ([Expected] extends [Actual] ? true : never) : never;
const yes = <_ extends true>(): void => undefined;

export async function plays(options: SandboxOptions): Promise<string> {
  await using sandbox = await Sandbox.open(options);
  const { settlement, replayed } = await sandbox.create({ amount: "10.50", currency: "EUR", to: "sim:ok", reference: "inv-1" });
  yes<Same<typeof settlement, Settlement>>();
  yes<Same<typeof replayed, boolean>>();
  await using watch = sandbox.followFeed({ after: 3 });
  yes<Same<typeof watch, EventWatch<FeedEvent>>>();
  for await (const event of watch) {
    yes<Same<typeof event, FeedEvent>>();
    if (event.event.type === "settlement.completed") break;
    // @ts-expect-error: no such type of event
    if (event.event.type === "settlement.done") break;
  }
  for await (const event of sandbox.follow(settlement.id)) yes<Same<typeof event, SettlementEvent>>();
  // @ts-expect-error: a reference is missing
  await sandbox.create({ amount: 1, currency: "EUR", to: "sim:ok" });
  // @ts-expect-error: a reference is text
  await sandbox.get(42);
  // @ts-expect-error: no such form
  await sandbox.receiptAs("inv-1", "application/pdf");
  // @ts-expect-error: no such place
  await Sandbox.open({ storage: "disk" });
  // @ts-expect-error: sandboxes are opened
  new Sandbox();
  // @ts-expect-error: views do not change
  settlement.status = "failed";
  return (await sandbox.settled("inv-1")).status;
}

export function explains(error: unknown): string {
  if (error instanceof ValidationError) return error.errors.map(({ pointer, message }) => `${pointer} ${message}`).join("\n");
  if (error instanceof StorageError) return error.retryable ? "try again" : error.code;
  throw error;
}
