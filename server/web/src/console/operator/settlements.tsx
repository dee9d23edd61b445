/** The settlements of all clients. */

import { text } from "../../shared/text";
import type { Column } from "../../shared/ui/table";
import type { Settlement } from "railgate/client";
import { useData } from "../data";
import { api } from "../session";
import { SettlementList } from "../settlements/list";
import { WATCHED } from "./act";
import { ModeBadge } from "./badges";
import { ClientName } from "./subjects";

const COLUMNS: readonly Column<Settlement>[] = [
  { name: text.operator.cases.client, cell: ({ client_id }) => <ClientName id={client_id} /> },
  { name: text.operator.providers.columns.mode, cell: ({ sandbox }) => <ModeBadge sandbox={sandbox} /> },
];

export default function Settlements() {
  const providers = useData((signal) => api.value.call("GET", "/operator/providers", { signal }), ["providers"], { on: false });
  const listed = providers.value?.data ?? [];
  const currencies = [...new Set(listed.flatMap((one) => one.currencies ?? []))].sort();
  return (
    <SettlementList
      read={(query, signal) => api.value.call("GET", "/operator/settlements", { query, signal })}
      csv={(query) => api.value.call("GET", "/operator/settlements/export", { query, accept: "text/csv" })}
      currencies={currencies}
      providers={listed}
      columns={COLUMNS}
      live={WATCHED}
    />
  );
}
