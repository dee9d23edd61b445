/** Tables that a keyboard walks through: arrows (or j and k) go from row to row, Enter opens one, n and p turn the page. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { text } from "../text";
import { Button } from "./button";

export interface Column<T> {
  readonly name: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Right-aligned figures. */
  readonly number?: boolean;
}

interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly id: (row: T) => string;
  /** Where a row leads; its first cell is the link. */
  readonly to?: (row: T) => string;
  /** The pages before and after; without them there are none. */
  readonly pages?: Pages;
}

export interface Pages {
  readonly previous?: (() => void) | undefined;
  readonly next?: (() => void) | undefined;
  /** Back to the first page, for those who came by a link. */
  readonly first?: (() => void) | undefined;
}

const FORWARD = new Set(["ArrowDown", "j"]);
const BACKWARD = new Set(["ArrowUp", "k"]);

export function Table<T>({ caption, columns, rows, id, to, pages = {} }: TableProps<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const walk = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n" || event.key === "p") return (event.key === "n" ? pages.next : pages.previous)?.();
    const step = FORWARD.has(event.key) ? 1 : BACKWARD.has(event.key) ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const stops = [...(body.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const here = stops.findIndex((stop) => stop === document.activeElement || stop.contains(document.activeElement));
    stops[Math.min(Math.max(here + step, 0), stops.length - 1)]?.focus();
  };
  // Roles are given, because a table whose boxes a phone lays out as cards loses its own.
  return (
    <div class="table-frame" onKeyDown={walk}>
      <table role="table" class="table">
        <caption class="hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ name, number }) => (
              <th key={name} role="columnheader" scope="col" class={number === true ? "number" : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" ref={body}>
          {rows.map((row) => (
            <tr
              key={id(row)}
              role="row"
              class={to === undefined ? undefined : "leads"}
              data-row={to === undefined ? "" : undefined}
              tabIndex={to === undefined ? -1 : undefined}
            >
              {columns.map(({ name, cell, number }, n) => (
                <td key={name} role="cell" data-name={name} class={number === true ? "number" : undefined}>
                  {n === 0 && to !== undefined ? (
                    <a href={to(row)} data-row="">
                      {cell(row)}
                    </a>
                  ) : (
                    cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {pages.previous === undefined && pages.next === undefined && pages.first === undefined ? null : <Turns {...pages} />}
    </div>
  );
}

function Turns({ previous, next, first }: Pages) {
  return (
    <nav class="turns" aria-label={`${text.previous}, ${text.next}`}>
      {first === undefined ? null : <Button onClick={first}>{text.first}</Button>}
      {previous === undefined ? null : (
        <Button icon="previous" onClick={previous}>
          {text.previous}
        </Button>
      )}
      {next === undefined ? null : (
        <Button icon="next" onClick={next}>
          {text.next}
        </Button>
      )}
    </nav>
  );
}
