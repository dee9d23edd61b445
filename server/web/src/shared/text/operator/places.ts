/** Words for the members of what operators and partners write, and for their values. */

import { states } from "../states";
import { clients } from "./clients";

const names: Readonly<Record<string, string>> = {
  answer_ms: "To answer, in milliseconds",
  base_url: "Address",
  connect_ms: "To connect, in milliseconds",
  countries: "Countries",
  daily_count: "Daily payments",
  daily_value: "Daily value",
  id: "Id",
  key_id: "Key",
  max: "Largest",
  min: "Smallest",
  namespace: "Kind of participant",
  namespaces: "Kinds of participant",
  refund: "Given back",
  resolution: "Decision",
  session_signatures: "Sessions may sign",
  sha256: "SHA-256",
  timeouts: "Time-outs",
  url: "Address",
};

const mode = { live: "Live", sandbox: "Sandbox" };

const values: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  mode,
  refund: clients.fee.refunds,
  resolution: states.resolution,
  session_signatures: clients.terms.signing,
};

export const places = { whole: "All of it", names, values };
