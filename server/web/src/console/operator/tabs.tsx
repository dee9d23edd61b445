/** A choice of one status, as links: each has an address of its own. */

import { text } from "../../shared/text";
import { href, path, query } from "../router";

/** The status of the address; `all` for none of them. */
export function chosen<T extends string>(statuses: readonly T[], initial: T | "all"): T | "all" {
  const given = query.value.get("status");
  return given === "all" ? "all" : (statuses.find((one) => one === given) ?? initial);
}

interface StatusTabsProps<T extends string> {
  readonly statuses: readonly T[];
  readonly here: T | "all";
  readonly names: Readonly<Record<T, string>>;
  readonly label: string;
  /** What is shown without a choice. */
  readonly initial: T | "all";
}

export function StatusTabs<T extends string>({ statuses, here, names, label, initial }: StatusTabsProps<T>) {
  const all: readonly (T | "all")[] = [...statuses, "all"];
  return (
    <nav class="tabs" aria-label={label}>
      {all.map((one) => (
        <a key={one} href={href(path.value, { status: one === initial ? "" : one })} aria-current={one === here ? "true" : undefined}>
          {one === "all" ? text.all : names[one]}
        </a>
      ))}
    </nav>
  );
}
