/** Acts of the reader: whether they run, and why they failed. */

import { useRef, useState } from "preact/hooks";
import { InternalError, RailgateError } from "railgate/errors";

/** An act of the reader: whether it runs, and why it failed. */
export interface Act<A extends unknown[]> {
  readonly run: (...args: A) => Promise<boolean>;
  readonly busy: boolean;
  readonly problem: RailgateError | undefined;
  readonly clear: () => void;
}

/** Why something failed, to be shown: a fault of the page itself, too. */
export function problemOf(error: unknown): RailgateError {
  if (error instanceof RailgateError) return error;
  console.error(error);
  return new InternalError("internal", error instanceof Error ? error.message : String(error), { cause: error });
}

/** Whether the gateway has answered that it did not do something, so that doing it again is something new. */
export function isRefusal(error: unknown): boolean {
  const { problem, retryable, status = 500 } = (error ?? {}) as Partial<RailgateError>;
  return problem !== undefined && retryable === false && status < 500;
}

/** Runs `work` once at a time. `run` resolves to whether it succeeded. */
export function useAct<A extends unknown[]>(work: (...args: A) => Promise<unknown>): Act<A> {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<RailgateError | undefined>(undefined);
  const running = useRef(false);
  const run = async (...args: A): Promise<boolean> => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setProblem(undefined);
    try {
      await work(...args);
      return true;
    } catch (error) {
      setProblem(problemOf(error));
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return { run, busy, problem, clear: () => setProblem(undefined) };
}

/**
 * The same for what the gateway would make anew at each call: `work` gets an `Idempotency-Key` that stays until it has succeeded, so that
 * whoever repeats it after a lost response gets what was made. What was refused keeps nothing under the key, so it may be corrected.
 */
export function useKeyedAct<A extends unknown[]>(work: (key: string, ...args: A) => Promise<unknown>): Act<A> {
  const key = useRef<string | undefined>(undefined);
  return useAct(async (...args: A) => {
    key.current ??= crypto.randomUUID();
    await work(key.current, ...args);
    key.current = undefined;
  });
}
