/** Texts of the clients' side of the console. */

export const client = {
  nav: {
    overview: "Overview",
    settlements: "Settlements",
    balances: "Balances",
    webhooks: "Webhooks",
    keys: "Keys",
    users: "Users",
    quality: "Quality",
    simulator: "Simulator",
  },
};
