/** The views of clients. */

import { text } from "../../shared/text";
import type { Identity } from "../session";
import type { View } from "../views";

const { nav } = text.client;

const VIEWS: readonly View[] = [
  { path: "/", load: () => import("./overview"), nav: { label: nav.overview, icon: "overview", key: "o", bar: true } },
  { path: "/settlements", load: () => import("./settlements"), nav: { label: nav.settlements, icon: "settlements", key: "s", bar: true } },
  { path: "/settlements/new", load: () => import("./create") },
  { path: "/settlements/:ref", load: () => import("./settlement") },
  { path: "/balances", load: () => import("./balances"), nav: { label: nav.balances, icon: "balances", key: "b", bar: true } },
  { path: "/balances/:currency", load: () => import("./statement") },
  { path: "/webhooks", load: () => import("./webhooks"), nav: { label: nav.webhooks, icon: "webhooks", key: "w", bar: true } },
  { path: "/webhooks/:id", load: () => import("./webhook") },
  { path: "/webhooks/:id/deliveries/:delivery", load: () => import("./delivery") },
  { path: "/keys", load: () => import("./keys"), nav: { label: nav.keys, icon: "keys", key: "k" } },
  { path: "/users", load: () => import("./users"), nav: { label: nav.users, icon: "users", key: "u" } },
  { path: "/users/:user", load: () => import("./user") },
  { path: "/quality", load: () => import("./quality"), nav: { label: nav.quality, icon: "quality", key: "q" } },
];

const SANDBOX: readonly View[] = [
  { path: "/simulator", load: () => import("./simulator"), nav: { label: nav.simulator, icon: "simulator", key: "i" } },
];

export function clientViews({ environment }: Identity): readonly View[] {
  return environment === "sandbox" ? [...VIEWS, ...SANDBOX] : VIEWS;
}
