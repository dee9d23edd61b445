import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { RailgateError } from "railgate/client";
import { text } from "../text";

interface Basics {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value. */
  readonly error?: string | undefined;
  readonly optional?: boolean | undefined;
}

/** A label, a control, a hint and what is wrong, tied together for assistive technology. */
function Labelled({ label, hint, error, optional, children }: Basics & { children: (ids: ControlProps) => ComponentChildren }) {
  const id = useId();
  const described = [hint === undefined ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`].filter((one) => one !== "");
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional === true ? <span class="optional"> ({text.optional})</span> : null}
      </label>
      {children({ id, "aria-invalid": error !== undefined, "aria-describedby": described.join(" ") || undefined })}
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error === undefined ? null : (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

interface ControlProps {
  readonly id: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
}

/** What an input of one line may have besides. */
interface Line {
  readonly type?: "text" | "search" | "url" | "email" | "number" | "datetime-local" | "date";
  readonly placeholder?: string;
  readonly inputMode?: "decimal" | "numeric" | "text";
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  readonly pattern?: string;
  readonly list?: string;
}

export function TextField({
  label,
  hint,
  error,
  optional,
  value,
  onValue,
  ...more
}: Basics & Line & { value: string; onValue: (value: string) => void }) {
  return (
    <Labelled label={label} hint={hint} error={error} optional={optional}>
      {(ids) => (
        <input
          {...(more as object)}
          {...ids}
          class="input"
          value={value}
          autocomplete="off"
          required={optional !== true}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

export function TextArea({
  label,
  hint,
  error,
  optional,
  value,
  onValue,
  rows = 3,
}: Basics & { value: string; onValue: (value: string) => void; rows?: number }) {
  return (
    <Labelled label={label} hint={hint} error={error} optional={optional}>
      {(ids) => (
        <textarea
          {...ids}
          class="input"
          rows={rows}
          value={value}
          required={optional !== true}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
}

export function SelectField<T extends string>({
  label,
  hint,
  error,
  value,
  choices,
  onValue,
}: Basics & { value: T; choices: readonly Choice<T>[]; onValue: (value: T) => void }) {
  return (
    <Labelled label={label} hint={hint} error={error}>
      {(ids) => (
        <select {...ids} class="input" value={value} onChange={(event) => onValue(event.currentTarget.value as T)}>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

interface CheckProps {
  readonly label: string;
  readonly hint?: string;
  readonly checked: boolean;
  readonly onValue: (checked: boolean) => void;
}

export function CheckField({ label, hint, checked, onValue }: CheckProps) {
  const id = useId();
  return (
    <div>
      <label class="check">
        <input
          type="checkbox"
          checked={checked}
          aria-describedby={hint === undefined ? undefined : id}
          onChange={(event) => onValue(event.currentTarget.checked)}
        />
        {label}
      </label>
      {hint === undefined ? null : (
        <p class="hint" id={id}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** What the gateway says of a field of the request, such as `/amount`. */
export function errorOf(problem: RailgateError | undefined, pointer: string): string | undefined {
  return problem?.errors?.find((one) => one.pointer === pointer)?.message;
}
