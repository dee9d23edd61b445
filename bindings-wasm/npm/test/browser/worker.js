// A worker that opens the same sandbox as its page: posts back the settlement for a posted reference.

import { Sandbox } from "../../dist/index.js";

const sandbox = await Sandbox.open({ name: "worker" });
onmessage = async ({ data }) => {
  const { settlement } = await sandbox.create({ amount: 1, currency: "EUR", to: "sim:ok", reference: data });
  postMessage([settlement.id, sandbox.leads]);
};
postMessage("open");
