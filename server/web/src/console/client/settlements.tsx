import { text } from "../../shared/text";
import { Empty } from "../../shared/ui/feedback";
import { useData } from "../data";
import { href } from "../router";
import { api } from "../session";
import { SettlementList } from "../settlements/list";

const words = text.settlements;

export default function Settlements() {
  const client = api.value;
  const around = useData((signal) => Promise.all([client.balances({ signal }), client.providers({ signal })]), [client.keyId], {
    on: false,
  });
  const [balances, providers] = around.value ?? [[], []];
  const create = (
    <a class="button primary" href={href("/settlements/new")}>
      {words.new}
    </a>
  );
  return (
    <SettlementList
      read={(filter, signal) => client.list(filter, { signal })}
      csv={(query) => client.call("GET", "/gateway/settlements/export", { query: query as object, accept: "text/csv" })}
      currencies={balances.map(({ currency }) => currency)}
      providers={providers}
      actions={create}
      live={{ on: ({ settlement_id }) => settlement_id !== null }}
      empty={
        <Empty title={words.empty}>
          <p>{words.emptyText}</p>
          {create}
        </Empty>
      }
    />
  );
}
