/** A form that makes a call: in the sandbox of this tab, or at the server. */

import { useState } from "preact/hooks";
import { useAct } from "../../shared/act";
import { docs } from "../../shared/text/docs";
import { Button } from "../../shared/ui/button";
import { Problem } from "../../shared/ui/feedback";
import { type Choice, SelectField, TextArea, TextField } from "../../shared/ui/field";
import { openServer, openTab, where } from "../gateways";
import { ChooseGateway, isReady } from "../where";
import { CALLS, type Given } from "./calls";
import { type Content, type Operation, examples } from "./document";
import { Json } from "./markup";

const words = docs.call;
const BASE = "/api/v1";
const JSON_TYPE = "application/json";
/** Calls of people or machines with other credentials than a client's. */
const NOT_CLIENTS = new Set(["operators", "rails"]);
/** What a page shows as text. */
const TEXT = /^text\/(?!event-stream)|json$|jose$|xml$/;

/** Whether a client can make the call at the server by one signed request. */
const isForClients = ({ path, tag, open, method }: Operation): boolean =>
  open ? method === "GET" : path.startsWith(BASE) && !NOT_CLIENTS.has(tag);

/** The forms of an answer that a page can show. */
function formsOf({ responses }: Operation): readonly string[] {
  const types = Object.entries(responses).flatMap(([status, { content = {} }]) => (status.startsWith("2") ? Object.keys(content) : []));
  return [...new Set(types)].filter((type) => TEXT.test(type));
}

/** The path with its parameters, and the query. */
function address({ path }: Operation, given: Given): string {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(given.path[name] ?? ""));
  const query = new URLSearchParams(given.query).toString();
  return query === "" ? filled : `${filled}?${query}`;
}

/** Sends the call to the server; an open one without a signature. */
async function send(operation: Operation, given: Given): Promise<unknown> {
  const target = address(operation, given);
  if (operation.open) {
    const response = await fetch(target, { headers: { accept: given.accept } });
    return given.accept.endsWith("json") ? response.json() : response.text();
  }
  const client = await openServer();
  const changes = operation.method !== "GET";
  const body = operation.body === undefined ? {} : { body: given.body };
  const key = changes ? { idempotencyKey: crypto.randomUUID() } : {};
  const answer = await client.raw(operation.method, target.slice(BASE.length), { ...body, ...key, accept: given.accept });
  return given.accept.endsWith("json") && answer.text() !== "" ? answer.json() : answer.text();
}

export function Call({ operation }: { operation: Operation }) {
  const inTab = CALLS[operation.id];
  const atServer = isForClients(operation);
  return (
    <section class="section" aria-label={words.title}>
      <h2>{words.title}</h2>
      {inTab === undefined && !atServer ? (
        <p class="note">{words.unsupported}</p>
      ) : (
        <>
          {operation.open && inTab === undefined ? null : <ChooseGateway />}
          {where.value === "tab" && inTab === undefined && !operation.open ? (
            <p class="note">{words.live}</p>
          ) : isReady() || operation.open ? (
            <Form operation={operation} />
          ) : null}
        </>
      )}
    </section>
  );
}

/** The fields of a form that were filled in. */
const filled = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));

function Form({ operation }: { operation: Operation }) {
  const forms = formsOf(operation);
  const [content] = Object.entries(operation.body?.content ?? {}).filter(([type]) => type === JSON_TYPE);
  const [choices] = useState(() => (content === undefined ? [] : bodies(content[1])));
  const fields = operation.parameters.filter((one) => one.in === "path" || one.in === "query");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [body, setBody] = useState(choices[0]?.value ?? "");
  const [accept, setAccept] = useState(forms[0] ?? JSON_TYPE);
  const [answer, setAnswer] = useState<{ value: unknown; ms: number } | undefined>();
  const parsed = parse(body);
  const call = useAct(async () => {
    setAnswer(undefined);
    const of = (place: string) =>
      filled(Object.fromEntries(fields.filter((one) => one.in === place).map(({ name }) => [name, values[name] ?? ""])));
    const given: Given = { path: of("path"), query: of("query"), body: parsed ?? {}, accept };
    const began = performance.now();
    const inTab = CALLS[operation.id];
    const value = where.value === "tab" && inTab !== undefined ? await inTab(await openTab(), given) : await send(operation, given);
    setAnswer({ value, ms: Math.round(performance.now() - began) });
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (parsed !== undefined) void call.run();
      }}
    >
      {fields.map(({ name, required, example }) => (
        <TextField
          key={name}
          label={name}
          optional={required !== true}
          placeholder={example === undefined ? "" : String(example)}
          value={values[name] ?? ""}
          onValue={(value) => setValues({ ...values, [name]: value })}
        />
      ))}
      {choices.length < 2 ? null : <SelectField label={docs.reference.example} value={body} choices={choices} onValue={setBody} />}
      {content === undefined ? null : (
        <TextArea label={words.body} value={body} rows={9} error={parsed === undefined ? words.badJson : undefined} onValue={setBody} />
      )}
      {forms.length < 2 ? null : (
        <SelectField label="Accept" value={accept} choices={forms.map((form) => ({ value: form, label: form }))} onValue={setAccept} />
      )}
      <Button type="submit" kind="primary" busy={call.busy}>
        {call.busy ? words.sending : words.send}
      </Button>
      <div class="answer" aria-live="polite">
        {call.problem === undefined ? null : <Problem problem={call.problem} reads={operation.method === "GET"} />}
        {answer === undefined ? null : (
          <>
            <p class="hint">{words.took(answer.ms)}</p>
            <Json value={answer.value} label={words.answer} />
          </>
        )}
      </div>
    </form>
  );
}

/** A body from its text; `undefined` if it is not an object in JSON. */
function parse(text: string): object | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A payment that a reader of the documentation can make: to a payee of the simulated operator, under a reference of its own. */
const PLAYED = { to: "sim:failover", reference: `inv-${Date.now().toString(36)}` };

/** The examples of the document, for somebody who has the sandbox. */
function bodies(content: Content): readonly Choice<string>[] {
  const played = (value: unknown): unknown =>
    typeof value === "object" && value !== null && "to" in value && "reference" in value ? { ...value, ...PLAYED } : value;
  return examples(content).map(([label, value]) => ({ label, value: JSON.stringify(played(value), null, 2) }));
}
