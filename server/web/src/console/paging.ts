/** Pages of a list: the cursor is in the address, and the way back is remembered while the list stays. */

import { useRef } from "preact/hooks";
import type { Pages } from "../shared/ui/table";
import { query, refine } from "./router";

/** How many rows a page has: what the address says as `limit`, 50 by default. */
export function pageSize(): number {
  const given = Number(query.value.get("limit"));
  return Number.isInteger(given) && given >= 1 && given <= MOST ? given : 50;
}

/** The most that the interface gives at once. */
const MOST = 200;

/** The page of the address, as a call takes it. */
export function pageQuery(): { readonly limit: number; readonly cursor?: string } {
  const cursor = query.value.get("cursor") ?? "";
  return { limit: pageSize(), ...(cursor === "" ? {} : { cursor }) };
}

/** The cursor of the address, and the turns from there. */
export function usePages(next: string | null | undefined, filters: string): Pages {
  const past = useRef<{ filters: string; cursors: string[] }>({ filters, cursors: [] });
  if (past.current.filters !== filters) past.current = { filters, cursors: [] };
  const { cursors } = past.current;
  const here = query.value.get("cursor") ?? "";
  const turn = (cursor: string): void => refine({ cursor });
  const back = (): void => turn(cursors.pop() ?? "");
  const on = (): void => {
    cursors.push(here);
    turn(next ?? "");
  };
  return {
    previous: cursors.length > 0 ? back : undefined,
    first: cursors.length === 0 && here !== "" ? () => turn("") : undefined,
    next: next === null || next === undefined ? undefined : on,
  };
}
