/** The views of operators. */

import { text } from "../../shared/text";
import type { Identity } from "../session";
import type { View } from "../views";

const { nav } = text.operator;

export function operatorViews(_identity: Identity): readonly View[] {
  return [{ path: "/", load: () => import("./home"), nav: { label: nav.home, icon: "overview", key: "o", bar: true } }];
}
