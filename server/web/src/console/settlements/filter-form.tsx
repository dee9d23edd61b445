import { useSignal } from "@preact/signals";
import { SETTLEMENT_STATUSES } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { CheckField, SelectField, TextField } from "../../shared/ui/field";
import { query, refine } from "../router";
import { NO_FILTERS } from "./filters";

const words = text.settlements.fields;

interface FilterFormProps {
  readonly currencies: readonly string[];
  readonly providers: readonly { readonly id: string; readonly name: string }[];
  readonly onDone: () => void;
}

/** A time of the address as a control of the reader's zone has it, and back. */
const local = (at: string | null): string => {
  if (at === null || at === "") return "";
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
const universal = (value: string): string => (value === "" ? "" : new Date(value).toISOString());

/** All filters of a list, set at once. */
export function FilterForm({ currencies, providers, onDone }: FilterFormProps) {
  const given = query.value;
  const read = (name: string): string => given.get(name) ?? "";
  const form = useSignal({
    status: given.getAll("status"),
    currency: read("currency"),
    provider: read("provider"),
    direction: read("direction"),
    user: read("user"),
    needs_review: read("needs_review"),
    created_from: local(given.get("created_from")),
    created_to: local(given.get("created_to")),
    min_amount: read("min_amount"),
    max_amount: read("max_amount"),
  });
  const { value } = form;
  const set = (change: Partial<typeof value>): void => void (form.value = { ...form.value, ...change });
  const any = { value: "", label: text.any };
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        refine({ ...value, created_from: universal(value.created_from), created_to: universal(value.created_to) });
        onDone();
      }}
    >
      <fieldset class="chips">
        <legend>{words.status}</legend>
        {SETTLEMENT_STATUSES.map((status) => (
          <CheckField
            key={status}
            label={text.states.settlement[status]}
            checked={value.status.includes(status)}
            onValue={(checked) => set({ status: checked ? [...value.status, status] : value.status.filter((one) => one !== status) })}
          />
        ))}
      </fieldset>
      <div class="columns">
        <SelectField
          label={words.currency}
          value={value.currency}
          choices={[any, ...currencies.map((one) => ({ value: one, label: one }))]}
          onValue={(currency) => set({ currency })}
        />
        <SelectField
          label={words.provider}
          value={value.provider}
          choices={[any, ...providers.map(({ id, name }) => ({ value: id, label: name }))]}
          onValue={(provider) => set({ provider })}
        />
        <SelectField
          label={words.direction}
          value={value.direction}
          choices={[any, ...(["outgoing", "incoming"] as const).map((one) => ({ value: one, label: text.states.direction[one] }))]}
          onValue={(direction) => set({ direction })}
        />
        <SelectField
          label={words.review}
          value={value.needs_review}
          choices={[any, { value: "true", label: text.yes }, { value: "false", label: text.no }]}
          onValue={(needs_review) => set({ needs_review })}
        />
        <TextField
          label={words.from}
          optional
          type="datetime-local"
          value={value.created_from}
          onValue={(created_from) => set({ created_from })}
        />
        <TextField label={words.to} optional type="datetime-local" value={value.created_to} onValue={(created_to) => set({ created_to })} />
        <TextField label={words.min} optional inputMode="decimal" value={value.min_amount} onValue={(min_amount) => set({ min_amount })} />
        <TextField label={words.max} optional inputMode="decimal" value={value.max_amount} onValue={(max_amount) => set({ max_amount })} />
        <TextField label={words.user} optional value={value.user} onValue={(user) => set({ user })} />
      </div>
      <div class="actions">
        <Button
          onClick={() => {
            refine(NO_FILTERS);
            onDone();
          }}
        >
          {text.clearFilters}
        </Button>
        <Button type="submit" kind="primary">
          {text.settlements.apply}
        </Button>
      </div>
    </form>
  );
}
