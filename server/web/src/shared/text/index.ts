/** The one catalogue of texts. Another language is another module of this shape. */

import { client } from "./client";
import { common } from "./common";
import { operator } from "./operator";
import { signIn } from "./sign-in";

export const text = { ...common, client, operator, signIn };
