import { text } from "../../shared/text";
import { Empty, Shown } from "../../shared/ui/feedback";
import { Page } from "../../shared/ui/page";
import { Table } from "../../shared/ui/table";
import { Money } from "../../shared/ui/values";
import { useData } from "../data";
import { href } from "../router";
import { api } from "../session";

const words = text.balances;

export default function Balances() {
  const data = useData((signal) => api.value.balances({ signal }), [api.value.keyId]);
  return (
    <Page title={words.title}>
      <Shown data={data}>
        {(balances) =>
          balances.length === 0 ? (
            <Empty />
          ) : (
            <div class="section flush">
              <Table
                caption={words.caption}
                rows={balances}
                id={({ currency }) => currency}
                to={({ currency }) => href(`/balances/${currency}`)}
                columns={[
                  { name: words.columns.currency, cell: ({ currency }) => <strong>{currency}</strong> },
                  ...(["available", "reserved", "pending", "ledger", "credit"] as const).map((name) => ({
                    name: words.columns[name],
                    number: true,
                    cell: (balance: (typeof balances)[number]) => <Money amount={balance[name]} currency={balance.currency} />,
                  })),
                ]}
              />
            </div>
          )
        }
      </Shown>
    </Page>
  );
}
