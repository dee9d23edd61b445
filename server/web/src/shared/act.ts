/** Acts of the reader: whether they run, and why they failed. */

import { useRef, useState } from "preact/hooks";
import { RailgateError } from "railgate/errors";

/** An act of the reader: whether it runs, and why it failed. */
export interface Act<A extends unknown[]> {
  readonly run: (...args: A) => Promise<boolean>;
  readonly busy: boolean;
  readonly problem: RailgateError | undefined;
  readonly clear: () => void;
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
      if (!(error instanceof RailgateError)) throw error;
      setProblem(error);
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return { run, busy, problem, clear: () => setProblem(undefined) };
}
