/**
 * Views: what an address shows, to whom, and how it is reached. A view is loaded when it is first shown.
 *
 * To add one: a file with the component, its row in `client/views.ts` or `operator/views.ts`, its texts in `shared/text/`, and a spec in
 * `test/` that uses it and looks at it.
 */

import type { ComponentType } from "preact";
import { clientViews } from "./client/views";
import { operatorViews } from "./operator/views";
import { match } from "./router";
import type { Identity } from "./session";
import type { IconName } from "../shared/ui/icon";

export interface ViewProps {
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
}

export interface View {
  /** The path below the console; `:name` is a parameter. */
  readonly path: string;
  readonly load: () => Promise<{ readonly default: ComponentType<ViewProps> }>;
  /** In the navigation; without it, the view is reached from others. */
  readonly nav?: {
    readonly label: string;
    readonly icon: IconName;
    /** The letter after `g` that goes there. */
    readonly key: string;
    /** In the bar at the bottom of a phone; the others are behind its last item. */
    readonly bar?: boolean;
    /** Under which heading it stands. */
    readonly group?: string;
  };
}

/** The views of an identity. */
export function viewsOf(identity: Identity): readonly View[] {
  return identity.kind === "operator" ? operatorViews(identity) : clientViews(identity);
}

/** The view of a path. */
export function find(views: readonly View[], path: string): { view: View; params: Record<string, string> } | undefined {
  for (const view of views) {
    const params = match(view.path, path);
    if (params !== undefined) return { view, params };
  }
  return undefined;
}
