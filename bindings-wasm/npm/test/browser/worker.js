// A worker that opens the same sandbox as its page: pays under each posted reference; posts back the id and whether it leads.

import { Sandbox } from "../../dist/index.js";

const sandbox = await Sandbox.open({ name: "worker" });
onmessage = async ({ data }) => {
  const { settlement } = await sandbox.create({ amount: 1, currency: "EUR", to: "sim:ok", reference: data });
  postMessage([settlement.id, sandbox.leads]);
};
postMessage("open");
