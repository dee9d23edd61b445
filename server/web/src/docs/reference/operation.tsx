/** A call: what it takes, what it answers, and a form to try it. */

import { docs } from "../../shared/text/docs";
import { Badge } from "../../shared/ui/values";
import { Call } from "./call";
import { type Answer, type Operation, type Parameter, type Reference, SENT, examples } from "./document";
import { Json, Line, Paragraphs } from "./markup";
import { Body, Limits, typeOf } from "./schema";

const words = docs.reference;

interface Props {
  readonly operation: Operation;
  readonly reference: Reference;
}

export function Method({ method }: { method: string }) {
  return <span class={`method ${method.toLowerCase()}`}>{method}</span>;
}

export function OperationPage({ operation, reference }: Props) {
  const { method, path, summary, description, tag, open, deprecated, parameters, body, responses } = operation;
  const sent = tag === SENT;
  return (
    <>
      <nav class="crumbs" aria-label={words.title}>
        <a href="/docs/api">{words.title}</a> › <a href={`/docs/api#${tag}`}>{sent ? words.webhooks : tag}</a>
      </nav>
      <h1 tabIndex={-1}>
        <Line text={summary} />
      </h1>
      <p class="signature">
        <Method method={method} /> <code>{path}</code>{" "}
        {sent ? null : <Badge tone={open ? "good" : "idle"}>{open ? words.access.open : words.access.signed}</Badge>}
        {deprecated ? <Badge tone="bad">{words.deprecated}</Badge> : null}
        <a class="to-beside" href="#beside">
          {sent ? words.example : docs.call.title}
        </a>
      </p>
      <div class="operation">
        <div class="described">
          {description === undefined ? null : <Paragraphs text={description} />}
          {parameters.length === 0 ? null : <Parameters parameters={parameters} reference={reference} />}
          {body === undefined ? null : (
            <section>
              <h2>{words.body}</h2>
              {Object.entries(body.content).map(([type, { schema }]) => (
                <div key={type}>
                  <p class="media">
                    <code>{type}</code>
                  </p>
                  {schema === undefined ? null : <Body schema={schema} reference={reference} />}
                </div>
              ))}
            </section>
          )}
          <Responses responses={responses} reference={reference} />
        </div>
        <div class="beside" id="beside">
          {sent ? (
            <Example operation={operation} reference={reference} />
          ) : (
            <Call key={operation.id} operation={operation} reference={reference} />
          )}
        </div>
      </div>
    </>
  );
}

function Example({ operation: { body }, reference }: Props) {
  const [content] = Object.values(body?.content ?? {});
  const [first] = content === undefined ? [] : examples(content, reference);
  return first === undefined ? null : (
    <div class="section">
      <h2>{words.example}</h2>
      <Json value={first[1]} label={words.example} />
    </div>
  );
}

function Parameters({ parameters, reference }: { parameters: readonly Parameter[]; reference: Reference }) {
  return (
    <section>
      <h2>{words.parameters}</h2>
      <ul class="members">
        {parameters.map((parameter) => (
          <li key={`${parameter.in} ${parameter.name}`}>
            <p class="member">
              <code>{parameter.name}</code>
              <span>
                {words.places[parameter.in]}
                {parameter.schema === undefined ? "" : `, ${typeOf(parameter.schema, reference)}`}
              </span>
              {parameter.required === true ? <em>{words.required}</em> : null}
            </p>
            {parameter.description === undefined ? null : (
              <p>
                <Line text={parameter.description} />
              </p>
            )}
            {parameter.schema === undefined ? null : <Limits schema={parameter.schema} reference={reference} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Responses({ responses, reference }: { responses: Operation["responses"]; reference: Reference }) {
  const all = Object.entries(responses);
  const first = all.findIndex(([status]) => status.startsWith("2"));
  return (
    <section>
      <h2>{words.responses}</h2>
      {all.map(([status, answer], n) => (
        <details key={status} class="response" open={n === first}>
          <summary>
            <Badge tone={status.startsWith("2") ? "good" : status.startsWith("3") ? "idle" : "bad"}>{status}</Badge>{" "}
            <span>{isProblem(answer) ? named(answer) : <Line text={answer.description ?? ""} />}</span>
          </summary>
          <Response answer={answer} reference={reference} />
        </details>
      ))}
    </section>
  );
}

const PROBLEM = "application/problem+json";
const isProblem = ({ content = {} }: Answer): boolean => PROBLEM in content;

/** The codes of a problem, as its description lists them: `code`: what it means. */
const codesOf = (description: string): readonly string[] => description.split(/\. (?=`)/);

/** As many codes as a line has room for. */
const NAMED = 3;

/** The codes of a problem in short. */
function named({ description = "" }: Answer): string {
  const names = codesOf(description).map((text) => text.split("`")[1] ?? text);
  const more = names.length - NAMED;
  return names.slice(0, NAMED).join(", ") + (more > 0 ? ` ${words.more(more)}` : "");
}

function Response({ answer, reference }: { answer: Answer; reference: Reference }) {
  const { content = {}, headers = {}, description = "" } = answer;
  if (isProblem(answer)) {
    return (
      <ul class="codes">
        {codesOf(description).map((text) => (
          <li key={text}>
            <Line text={text} codes />
          </li>
        ))}
      </ul>
    );
  }
  return (
    <>
      {Object.entries(headers).map(([name, header]) => (
        <p key={name} class="limits">
          <code>{name}</code> {header.description === undefined ? "" : <Line text={header.description} />}
        </p>
      ))}
      {Object.entries(content).map(([type, { schema }]) => (
        <div key={type}>
          <p class="media">
            <code>{type}</code>
          </p>
          {schema === undefined ? null : <Body schema={schema} reference={reference} />}
        </div>
      ))}
    </>
  );
}
