/** The views of clients. */

import { text } from "../../shared/text";
import type { Identity } from "../session";
import type { View } from "../views";

const { nav } = text.client;

export function clientViews(_identity: Identity): readonly View[] {
  return [
    { path: "/", load: () => import("./overview"), nav: { label: nav.overview, icon: "overview", key: "o", bar: true } },
    {
      path: "/settlements",
      load: () => import("./settlements"),
      nav: { label: nav.settlements, icon: "settlements", key: "s", bar: true },
    },
    { path: "/settlements/new", load: () => import("./create") },
    { path: "/settlements/:ref", load: () => import("./settlement") },
  ];
}
