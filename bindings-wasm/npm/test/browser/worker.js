// A worker with a sandbox of its own, which it shares with its page: whoever posts a reference gets what it was paid as.

import { Sandbox } from "../../dist/index.js";

const sandbox = await Sandbox.open({ name: "worker" });
onmessage = async ({ data }) => {
  const { settlement } = await sandbox.create({ amount: 1, currency: "EUR", to: "sim:ok", reference: data });
  postMessage([settlement.id, sandbox.leads]);
};
postMessage("open");
