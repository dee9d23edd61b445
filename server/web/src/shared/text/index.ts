/** The one catalogue of texts. Another language is another module of this shape. */

import { balances, client, keys, overview, quality, simulator, users, webhooks } from "./client";
import { common } from "./common";
import { operator } from "./operator";
import { create, settlement, settlements } from "./settlements";
import { signIn } from "./sign-in";
import { states } from "./states";

export const text = {
  ...common,
  balances,
  client,
  create,
  keys,
  operator,
  overview,
  quality,
  settlement,
  settlements,
  signIn,
  simulator,
  states,
  users,
  webhooks,
};
