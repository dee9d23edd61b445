/** A new settlement: what it would do is shown before it is paid. */

import { useSignal } from "@preact/signals";
import type { CheckResult, CreateRequest } from "railgate/client";
import { typedMoney } from "../../shared/format";
import { kept } from "../../shared/kept";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Confirm } from "../../shared/ui/dialog";
import { Problem, Shown } from "../../shared/ui/feedback";
import { SelectField, TextField, errorOf } from "../../shared/ui/field";
import { Page, Section } from "../../shared/ui/page";
import { Badge, Facts, Money } from "../../shared/ui/values";
import { isRefusal, useAct, useData } from "../data";
import { ProviderName } from "../names";
import { go } from "../router";
import { api, session } from "../session";
import { settlementHref } from "../settlements/list";

const words = text.create;

/** A reference that nobody else has made: the day, and a part that is random. */
const fresh = (): string => `pay-${new Date().toISOString().slice(0, 10)}-${crypto.randomUUID().slice(0, 8)}`;

export default function Create() {
  const client = api.value;
  const sandbox = session.value?.identity.environment === "sandbox";
  const around = useData(
    async (signal) => {
      const scenarios = sandbox ? client.scenarios({ signal }) : [];
      return Promise.all([client.balances({ signal }), client.providers({ signal }), scenarios] as const);
    },
    [client.keyId],
    { on: false },
  );
  return (
    <Page title={words.title}>
      <p class="note">{words.intro}</p>
      <Shown data={around}>
        {([balances, providers, scenarios]) => (
          <Form
            currencies={balances.map(({ currency }) => currency)}
            providers={providers.map(({ id, name }) => ({ value: id, label: name }))}
            scenarios={scenarios.map(({ to, description }) => ({ value: to, label: description }))}
            sandbox={sandbox}
          />
        )}
      </Shown>
    </Page>
  );
}

/** The fields as they are typed. */
type Draft = Record<"amount" | "currency" | "to" | "reference" | "description" | "provider" | "user" | "expires", string>;

interface Option {
  readonly value: string;
  readonly label: string;
}

interface FormProps {
  readonly currencies: readonly string[];
  readonly providers: readonly Option[];
  readonly scenarios: readonly Option[];
  readonly sandbox: boolean;
}

function Form({ currencies, providers, scenarios, sandbox }: FormProps) {
  const client = api.value;
  const unanswered = kept<Draft | null>(`unanswered.${client.keyId}`, null, "sessionStorage");
  const before = useSignal(unanswered.read()).value;
  const form = useSignal<Draft>(
    before ?? {
      amount: "",
      currency: currencies[0] ?? "",
      to: "",
      reference: fresh(),
      description: "",
      provider: "",
      user: "",
      expires: "",
    },
  );
  const { value } = form;
  const result = useSignal<CheckResult | undefined>(undefined);
  const asking = useSignal(false);
  const set = (change: Partial<typeof value>): void => {
    form.value = { ...form.value, ...change };
    result.value = undefined;
  };
  const checking = useAct(async () => {
    result.value = await client.check(requestOf(form.value));
  });
  const paying = useAct(async () => {
    // Kept until there is an answer: after a reload, it is still the same payment.
    unanswered.write(form.value);
    try {
      const { settlement } = await client.create(requestOf(form.value));
      unanswered.write(null);
      go(settlementHref(settlement));
    } catch (error) {
      if (isRefusal(error)) unanswered.write(null);
      throw error;
    }
  });
  const problem = paying.problem ?? checking.problem;
  const wrong = (pointer: string) => errorOf(problem, pointer) ?? result.value?.problems.find((one) => one.pointer === pointer)?.message;
  const pay = (): void => {
    if (sandbox) void paying.run();
    else asking.value = true;
  };
  return (
    <div class="split">
      <form
        class="section"
        onSubmit={(event) => {
          event.preventDefault();
          pay();
        }}
      >
        {before === null ? null : <p class="callout wait">{words.unanswered}</p>}
        <div class="columns">
          <TextField
            label={words.amount}
            hint={words.amountHint}
            inputMode="decimal"
            value={value.amount}
            onValue={(amount) => set({ amount })}
            error={wrong("/amount")}
          />
          <SelectField
            label={words.currency}
            value={value.currency}
            choices={currencies.map((one) => ({ value: one, label: one }))}
            onValue={(currency) => set({ currency })}
            error={wrong("/currency")}
          />
        </div>
        <TextField
          label={words.to}
          hint={sandbox ? words.toSandbox : words.toHint}
          list="scenarios"
          value={value.to}
          onValue={(to) => set({ to })}
          error={wrong("/to")}
        />
        <datalist id="scenarios">
          {scenarios.map((scenario) => (
            <option key={scenario.value} value={scenario.value}>
              {scenario.label}
            </option>
          ))}
        </datalist>
        <TextField
          label={words.reference}
          hint={words.referenceHint}
          value={value.reference}
          onValue={(reference) => set({ reference })}
          error={wrong("/reference")}
        />
        <TextField
          label={words.description}
          optional
          maxLength={140}
          value={value.description}
          onValue={(description) => set({ description })}
          error={wrong("/description")}
        />
        <div class="columns">
          <SelectField
            label={words.provider}
            value={value.provider}
            choices={[{ value: "", label: words.anyProvider }, ...providers]}
            onValue={(provider) => set({ provider })}
            error={wrong("/provider")}
          />
          <TextField
            label={words.expires}
            optional
            type="datetime-local"
            value={value.expires}
            onValue={(expires) => set({ expires })}
            error={wrong("/expires_at")}
          />
        </div>
        <TextField
          label={words.user}
          hint={words.userHint}
          optional
          value={value.user}
          onValue={(user) => set({ user })}
          error={wrong("/user")}
        />
        {problem === undefined ? null : <Problem problem={problem} reads={paying.problem === undefined} />}
        <div class="actions">
          <Button busy={checking.busy} onClick={() => void checking.run()}>
            {words.check}
          </Button>
          <Button type="submit" kind="primary" busy={paying.busy}>
            {words.pay}
          </Button>
        </div>
      </form>
      {result.value === undefined ? null : <Checked result={result.value} currency={value.currency} />}
      {asking.value ? (
        <Confirm
          title={words.liveTitle}
          what={words.liveWhat(typedMoney(value.amount.trim(), value.currency), value.to.trim())}
          act={words.pay}
          danger={false}
          busy={paying.busy}
          problem={paying.problem}
          onConfirm={() => void paying.run()}
          onClose={() => (asking.value = false)}
        />
      ) : null}
    </div>
  );
}

/** The request that a form describes; what is empty is left out. */
function requestOf(form: Draft): CreateRequest {
  const { amount, currency, to, reference, expires, ...more } = form;
  const given = Object.entries(more).filter(([, value]) => value !== "");
  const until = expires === "" ? {} : { expires_at: new Date(expires) };
  return { amount: amount.trim(), currency, to: to.trim(), reference: reference.trim(), ...Object.fromEntries(given), ...until };
}

function Checked({ result, currency }: { result: CheckResult; currency: string }) {
  const { quote, payee, route } = result;
  return (
    <Section title={words.checked}>
      <p>{result.ok ? <Badge tone="good">{words.ok}</Badge> : <Badge tone="bad">{words.refused}</Badge>}</p>
      {[...result.problems, ...result.warnings].map(({ pointer, code, message }) => (
        <p key={pointer + code}>
          <code>{pointer}</code> {message}
        </p>
      ))}
      <Facts
        rows={[
          ...(quote === null
            ? []
            : ([
                [words.fee, <Money key="fee" amount={quote.fee} currency={currency} />],
                [words.debit, <Money key="debit" amount={quote.total_debit} currency={currency} />],
                [words.first, <ProviderName key="first" id={quote.provider} />],
              ] as const)),
          [words.payee, [payee.display_name, text.states.match[payee.match]].filter((one) => one !== null).join(": ")],
          [words.funds, result.funds_available ? words.enough : words.notEnough],
        ]}
      />
      {route.length === 0 ? null : (
        <>
          <h3>{words.route}</h3>
          <ol class="route">
            {route.map((step) => (
              <li key={step.provider}>
                <strong>
                  <ProviderName id={step.provider} />
                </strong> {step.why === null ? words.taken : text.states.refusal[step.why]}
              </li>
            ))}
          </ol>
        </>
      )}
    </Section>
  );
}
