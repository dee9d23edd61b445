/** The one catalogue of texts. Another language is another module of this shape. */

import { client } from "./client";
import { common } from "./common";
import { operator } from "./operator";
import { create, settlement, settlements } from "./settlements";
import { signIn } from "./sign-in";
import { states } from "./states";

export const text = { ...common, client, create, operator, settlement, settlements, signIn, states };
