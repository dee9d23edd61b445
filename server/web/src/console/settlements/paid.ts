/** Whether a payment reached its payee, whatever became of the money later. */

import type { Settlement, SettlementStatus } from "railgate/client";

const PAID: ReadonlySet<SettlementStatus> = new Set(["completed", "partially_reversed", "reversed", "returned"]);

export const isPaid = ({ status }: Settlement): boolean => PAID.has(status);
