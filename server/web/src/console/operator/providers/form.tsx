/** The fields of a provider's configuration. */

import { useSignal } from "@preact/signals";
import { typedNumber } from "../../../shared/decimal";
import { text } from "../../../shared/text";
import { SelectField, TextField } from "../../../shared/ui/field";
import { Section } from "../../../shared/ui/page";
import { FeeEditor } from "../fees";
import type { ProviderConfig } from "./config";
import { Limits, Pairs } from "./pairs";

type Draft = ProviderConfig;
type Rail = keyof typeof words.rails;

const words = text.operator.providers;
const RAILS = (Object.keys(words.rails) as Rail[]).map((value) => ({ value, label: words.rails[value] }));
const MODES = [
  { value: "sandbox", label: text.sandbox },
  { value: "live", label: text.live },
] as const;
const LISTS = ["namespaces", "currencies", "countries"] as const;

interface FormProps {
  readonly draft: Draft;
  readonly isNew: boolean;
  /** The names of the secrets that it has. */
  readonly secretNames: readonly string[];
  readonly onDraft: (draft: Draft) => void;
}

/** Names separated by commas. */
const namesOf = (typed: string): readonly string[] | null => {
  const names = typed
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return names.length === 0 ? null : names;
};

export function ProviderForm({ draft, isNew, secretNames, onDraft }: FormProps) {
  const set = (more: Partial<Draft>): void => onDraft({ ...draft, ...more });
  return (
    <>
      <Section title={words.basics}>
        <div class="columns">
          {isNew ? <TextField label={words.fields.id} hint={words.idHint} value={draft.id} onValue={(id) => set({ id })} /> : null}
          <TextField label={words.fields.name} value={draft.name} onValue={(name) => set({ name })} />
          {isNew ? (
            <SelectField
              label={words.fields.mode}
              hint={words.modeHint}
              value={draft.mode as "sandbox" | "live"}
              choices={MODES}
              onValue={(mode) => set({ mode })}
            />
          ) : null}
          <SelectField label={words.fields.rail} value={draft.rail as Rail} choices={RAILS} onValue={(rail) => set({ rail })} />
          <TextField
            label={words.fields.base_url}
            optional
            type="url"
            value={draft.base_url ?? ""}
            onValue={(typed) => set({ base_url: typed.trim() === "" ? null : typed.trim() })}
          />
          {LISTS.map((name) => (
            <List key={name} label={words.fields[name]} names={draft[name]} onNames={(names) => set({ [name]: names })} />
          ))}
        </div>
      </Section>
      <div class="split">
        <Section title={words.fields.limits} note={words.limitsNote}>
          <Limits limits={draft.limits ?? {}} onLimits={(limits) => set({ limits })} />
        </Section>
        <Section title={words.fields.timeouts}>
          {(["connect_ms", "answer_ms"] as const).map((name) => (
            <TextField
              key={name}
              label={words.fields[name]}
              optional
              inputMode="numeric"
              pattern="[0-9]*"
              value={String(draft.timeouts?.[name] ?? "")}
              onValue={(typed) => set({ timeouts: { ...draft.timeouts, [name]: typed.trim() === "" ? null : typedNumber(typed) } })}
            />
          ))}
        </Section>
      </div>
      <Section title={words.fields.fees} note={words.feesNote}>
        <FeeEditor fees={draft.fees ?? []} onFees={(fees) => set({ fees })} />
      </Section>
      <div class="split">
        <Section title={words.fields.settings} note={words.settingsNote}>
          <Pairs what={words.setting} pairs={draft.settings ?? {}} onPairs={(settings) => set({ settings })} />
        </Section>
        <Section title={words.fields.secrets} note={words.secretsNote(secretNames.join(", "))}>
          <Pairs what={words.secret} pairs={draft.secrets ?? {}} onPairs={(secrets) => set({ secrets: secretsOf(secrets) })} />
        </Section>
      </div>
    </>
  );
}

/** No pair means that the secrets stay; an empty object would remove them. */
const secretsOf = (secrets: Readonly<Record<string, string>>): Readonly<Record<string, string>> | null =>
  Object.keys(secrets).length === 0 ? null : secrets;

interface ListProps {
  readonly label: string;
  readonly names: readonly string[] | null | undefined;
  readonly onNames: (names: readonly string[] | null) => void;
}

/** Names in one field; what is typed stays as it is, also between two names. */
function List({ label, names, onNames }: ListProps) {
  const typed = useSignal((names ?? []).join(", "));
  return (
    <TextField
      label={label}
      hint={words.listHint}
      optional
      value={typed.value}
      onValue={(value) => {
        typed.value = value;
        onNames(namesOf(value));
      }}
    />
  );
}
