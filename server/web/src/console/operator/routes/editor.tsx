/** The editor of the table of routes. */

import type { Operators } from "railgate/client";
import { typedNumber } from "../../../shared/decimal";
import { text } from "../../../shared/text";
import { Button, IconButton } from "../../../shared/ui/button";
import { SelectField, TextField } from "../../../shared/ui/field";

type Entry = Operators.RouteRequest;
type Choice = Operators.ChoiceRequest;
type Provider = Operators.OperatedProvider;

const words = text.operator.routes;
const MODES = [
  { value: "sandbox", label: text.sandbox },
  { value: "live", label: text.live },
] as const;
const OPTIONAL = ["prefix", "currency", "min", "max"] as const;

const without = <T,>(list: readonly T[], at: number): readonly T[] => list.filter((_, n) => n !== at);
const replaced = <T,>(list: readonly T[], at: number, one: T): readonly T[] => list.map((old, n) => (n === at ? one : old));

interface RoutesEditorProps {
  readonly routes: readonly Entry[];
  readonly providers: readonly Provider[];
  readonly onRoutes: (routes: readonly Entry[]) => void;
}

export function RoutesEditor({ routes, providers, onRoutes }: RoutesEditorProps) {
  return (
    <div class="rules">
      {routes.map((entry, n) => (
        <fieldset key={n} class="rule">
          <legend>{words.entry(n + 1)}</legend>
          <EntryForm entry={entry} providers={providers} onEntry={(next) => onRoutes(replaced(routes, n, next))} />
          <Button kind="warning" onClick={() => onRoutes(without(routes, n))}>
            {words.removeEntry(n + 1)}
          </Button>
        </fieldset>
      ))}
      <Button icon="plus" onClick={() => onRoutes([...routes, { mode: "sandbox", namespace: "msisdn", providers: [] }])}>
        {words.addEntry}
      </Button>
    </div>
  );
}

interface EntryProps {
  readonly entry: Entry;
  readonly providers: readonly Provider[];
  readonly onEntry: (entry: Entry) => void;
}

function EntryForm({ entry, providers, onEntry }: EntryProps) {
  const set = (more: Partial<Entry>): void => onEntry({ ...entry, ...more });
  const offered = providers.filter(({ mode }) => mode === entry.mode);
  return (
    <>
      <div class="columns">
        <SelectField
          label={words.columns.mode}
          value={entry.mode as "sandbox" | "live"}
          choices={MODES}
          onValue={(mode) => set({ mode, providers: [] })}
        />
        <TextField label={words.fields.namespace} value={entry.namespace} onValue={(namespace) => set({ namespace: namespace.trim() })} />
        {OPTIONAL.map((name) => (
          <TextField
            key={name}
            label={words.fields[name]}
            optional
            value={String(entry[name] ?? "")}
            onValue={(typed) => set({ [name]: typed.trim() === "" ? null : typed.trim() })}
          />
        ))}
      </div>
      {entry.providers.map((choice, n) => (
        <ChoiceForm
          key={n}
          n={n + 1}
          choice={choice}
          providers={offered}
          onChoice={(next) => set({ providers: replaced(entry.providers, n, next) })}
          onRemove={() => set({ providers: without(entry.providers, n) })}
        />
      ))}
      <Button
        icon="plus"
        disabled={offered.length === 0}
        onClick={() => set({ providers: [...entry.providers, { id: offered[0]?.id ?? "", priority: entry.providers.length + 1 }] })}
      >
        {words.addProvider}
      </Button>
    </>
  );
}

interface ChoiceProps {
  readonly n: number;
  readonly choice: Choice;
  readonly providers: readonly Provider[];
  readonly onChoice: (choice: Choice) => void;
  readonly onRemove: () => void;
}

function ChoiceForm({ n, choice, providers, onChoice, onRemove }: ChoiceProps) {
  return (
    <div class="pair">
      <SelectField
        label={words.providerOf(n)}
        value={choice.id}
        choices={providers.map(({ id, name }) => ({ value: id, label: name }))}
        onValue={(id) => onChoice({ ...choice, id })}
      />
      <TextField
        label={words.fields.priority}
        type="number"
        min={0}
        value={String(choice.priority)}
        onValue={(typed) => onChoice({ ...choice, priority: typed.trim() === "" ? 0 : typedNumber(typed) })}
      />
      <TextField
        label={words.fields.weight}
        type="number"
        min={1}
        optional
        value={String(choice.weight ?? "")}
        onValue={(typed) => onChoice({ ...choice, weight: typed.trim() === "" ? null : typedNumber(typed) })}
      />
      <IconButton icon="close" label={words.removeProvider(n)} onClick={onRemove} />
    </div>
  );
}
