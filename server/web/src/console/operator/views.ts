/** The views of operators. Every role reads everything; what a role may do is decided in the views. */

import { text } from "../../shared/text";
import type { Identity } from "../session";
import type { View } from "../views";

const { nav, groups } = text.operator;

const VIEWS: readonly View[] = [
  { path: "/", load: () => import("./home"), nav: { label: nav.home, icon: "overview", key: "o", bar: true } },
  { path: "/reviews", load: () => import("./reviews"), nav: { label: nav.reviews, icon: "warn", key: "r", bar: true } },
  { path: "/reviews/:id", load: () => import("./review") },
  { path: "/approvals", load: () => import("./approvals"), nav: { label: nav.approvals, icon: "check", key: "a", bar: true } },
  { path: "/approvals/:id", load: () => import("./approval") },
  { path: "/settlements", load: () => import("./settlements"), nav: { label: nav.settlements, icon: "settlements", key: "s", bar: true } },
  { path: "/settlements/:id", load: () => import("./settlement") },
  { path: "/clients", load: () => import("./clients"), nav: { label: nav.clients, icon: "users", key: "c", group: groups.gateway } },
  { path: "/clients/:id", load: () => import("./client") },
  { path: "/providers", load: () => import("./providers"), nav: { label: nav.providers, icon: "server", key: "p", group: groups.gateway } },
  { path: "/providers/:id", load: () => import("./provider") },
  { path: "/providers/:id/edit", load: () => import("./provider-edit") },
  { path: "/new-provider", load: () => import("./provider-edit") },
  { path: "/routes", load: () => import("./routes"), nav: { label: nav.routes, icon: "route", key: "t", group: groups.gateway } },
  { path: "/bundles", load: () => import("./bundles"), nav: { label: nav.bundles, icon: "shield", key: "b", group: groups.gateway } },
  { path: "/bundles/:id", load: () => import("./bundle") },
  {
    path: "/reconciliations",
    load: () => import("./reconciliations"),
    nav: { label: nav.reconciliations, icon: "balances", key: "x", group: groups.records },
  },
  { path: "/reconciliations/:id", load: () => import("./reconciliation") },
  { path: "/operators", load: () => import("./operators"), nav: { label: nav.operators, icon: "person", key: "u", group: groups.records } },
  { path: "/audit", load: () => import("./audit"), nav: { label: nav.audit, icon: "list", key: "d", group: groups.records } },
];

export function operatorViews(_identity: Identity): readonly View[] {
  return VIEWS;
}
