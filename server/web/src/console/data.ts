/** Data of views: read when a view is shown, again when something changes, and kept on screen meanwhile. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { RailgateError, SettlementEvent } from "railgate/client";
import { problemOf } from "../shared/act";
import { onChange } from "./live";

export interface Data<T> {
  /** What was read last. */
  readonly value: T | undefined;
  /** Why the last attempt failed. */
  readonly problem: RailgateError | undefined;
  readonly loading: boolean;
  /** Reads again. */
  readonly reload: () => void;
}

export interface DataOptions {
  /** Whether an event changes this data; by default every event does. `false` for data that events do not change. */
  readonly on?: false | ((event: SettlementEvent) => boolean);
  /** Reads again after so many milliseconds, for data that has no events. */
  readonly everyMs?: number;
  /** For how long events are gathered before the data is read again. */
  readonly gatherMs?: number;
}

/** Data that depends on `keys`. While keys stay, a new reading replaces the old one without a gap. */
export function useData<T>(load: (signal: AbortSignal) => PromiseLike<T>, keys: readonly unknown[], options: DataOptions = {}): Data<T> {
  const [state, setState] = useState<{ key: string; value?: T; problem?: RailgateError; loading: boolean }>({ key: "", loading: true });
  const key = JSON.stringify(keys);
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const latest = useRef(load);
  latest.current = load;

  useEffect(() => {
    const ended = new AbortController();
    setState((before) => (before.key === key ? { ...before, loading: true } : { key, loading: true }));
    Promise.resolve(latest.current(ended.signal)).then(
      (value) => ended.signal.aborted || setState({ key, value, loading: false }),
      (error: unknown) => {
        if (ended.signal.aborted) return;
        const problem = problemOf(error);
        setState((before) => ({ key, ...(before.value === undefined ? {} : { value: before.value }), problem, loading: false }));
      },
    );
    return () => ended.abort();
  }, [key, turn]);

  useChanges(reload, options);
  const current = state.key === key;
  return {
    value: current ? state.value : undefined,
    problem: current ? state.problem : undefined,
    loading: !current || state.loading,
    reload,
  };
}

/** Calls `reload` when something changed; a burst of events counts once. */
function useChanges(reload: () => void, { on, everyMs, gatherMs = GATHER_MS }: DataOptions): void {
  const concerns = useRef(on);
  concerns.current = on;
  useEffect(() => {
    if (on === false && everyMs === undefined) return undefined;
    let due: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      due ??= setTimeout(() => {
        due = undefined;
        reload();
      }, gatherMs);
    };
    const timer = everyMs === undefined ? undefined : setInterval(() => document.hidden || reload(), everyMs);
    const stop = onChange((event) => {
      const filter = concerns.current;
      if (event === undefined || (filter !== false && (filter === undefined || filter(event)))) soon();
    });
    return () => {
      stop();
      clearTimeout(due);
      clearInterval(timer);
    };
  }, [reload, on === false, everyMs, gatherMs]);
}

const GATHER_MS = 120;

export { type Act, isRefusal, useAct, useKeyedAct } from "../shared/act";
