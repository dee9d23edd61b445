/** The calls of the interface, as the sandbox of a tab has them: by the id of the operation. */

import type { Gateway, ReverseRequest } from "railgate";
import type { CreateRequest } from "railgate/client";

/** What the form has: the path's and the query's parameters, and the body. */
export interface Given {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: object;
  readonly accept: string;
}

type Made = (gateway: Gateway, given: Given) => PromiseLike<unknown>;

const ref = ({ path }: Given): string => path.ref ?? "";
/** The parameters of a query as the package takes them: numbers are numbers. */
const filter = ({ query }: Given): object =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, /^\d+$/.test(value) && name !== "reference" ? Number(value) : value]),
  );

export const CALLS: Readonly<Record<string, Made>> = {
  createSettlement: (gateway, { body }) => gateway.create(body as CreateRequest).then(({ settlement }) => settlement),
  createSettlements: (gateway, { body }) =>
    gateway.createBatch((body as { settlements?: CreateRequest[] }).settlements ?? []).then((results) => ({ results })),
  checkSettlement: (gateway, { body }) => gateway.check(body as CreateRequest),
  listSettlements: (gateway, given) => gateway.list(filter(given)),
  getSettlement: (gateway, given) => gateway.get(ref(given)),
  getSettlementStatus: (gateway, given) => gateway.status(ref(given)),
  listSettlementEvents: (gateway, given) => gateway.events(ref(given), filter(given)),
  listEvents: (gateway, given) => gateway.feed(filter(given)),
  reverseSettlement: (gateway, given) => gateway.reverse(ref(given), given.body as ReverseRequest),
  listReversals: (gateway, given) => gateway.reversals(ref(given)).then((data) => ({ data })),
  getReversal: (gateway, given) => gateway.reversal(ref(given), given.path.id ?? ""),
  reconcileSettlement: (gateway, given) => gateway.reconcile(ref(given)),
  getReceipt: (gateway, given) =>
    given.accept === "application/json" ? gateway.receipt(ref(given)) : gateway.receiptAs(ref(given), given.accept as "text/plain"),
  receiptKeys: (gateway) => gateway.jwks(),
  listBalances: (gateway) => gateway.balances().then((data) => ({ data })),
  getBalance: (gateway, { path }) => gateway.balance(path.currency ?? ""),
  listScenarios: (gateway) => gateway.scenarios().then((data) => ({ data })),
  fund: (gateway, { body }) => gateway.fund(body as Parameters<Gateway["fund"]>[0]),
  advanceSettlement: (gateway, given) => gateway.advance(ref(given), given.body as Parameters<Gateway["advance"]>[1]),
  getClock: (gateway) => gateway.clock(),
  setClock: (gateway, { body }) => gateway.setClock(body as Parameters<Gateway["setClock"]>[0]),
  getFaults: (gateway) => gateway.faults(),
  setFaults: (gateway, { body }) => gateway.setFaults(body as Parameters<Gateway["setFaults"]>[0]),
  resetSandbox: (gateway) => gateway.reset(),
};
