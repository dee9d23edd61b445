/** Texts of the operators' side of the console. */

import { approvals, acts, who } from "./operator/approvals";
import { bundles } from "./operator/bundles";
import { clients } from "./operator/clients";
import { changes, providers, routes } from "./operator/providers";
import { home } from "./operator/home";
import { places } from "./operator/places";
import { audit, operators, reconciliations } from "./operator/records";
import { cases, findings, resolve, reviews } from "./operator/reviews";
import { operatorStates } from "./operator/states";

export const operator = {
  nav: {
    home: "Overview",
    reviews: "Reviews",
    approvals: "Approvals",
    settlements: "Settlements",
    clients: "Clients",
    providers: "Providers",
    routes: "Routes",
    bundles: "Bundles",
    reconciliations: "Reconciliations",
    operators: "Operators",
    audit: "Audit trail",
  },
  groups: { gateway: "Gateway", records: "Records" },
  onStore: "command line",
  you: "you",
  reason: "Reason",
  reasonHint: "For the audit trail: up to 500 characters.",
  asked: "A second operator has to confirm it; until then nothing changes",
  waitsSince: "waits for a second operator. Asked for by",
  lookAt: "Look at the request",
  acts,
  approvals,
  audit,
  bundles,
  cases,
  changes,
  clients,
  findings,
  home,
  operators,
  places,
  providers,
  reconciliations,
  resolve,
  reviews,
  routes,
  states: operatorStates,
  who,
};
