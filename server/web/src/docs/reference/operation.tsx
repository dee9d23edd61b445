/** A call: what it takes, what it answers, and a form to try it. */

import { docs } from "../../shared/text/docs";
import { Badge } from "../../shared/ui/values";
import { Call } from "./call";
import { type Operation, type Parameter, type Reference, SENT, examples } from "./document";
import { Json, Line, Paragraphs, Path } from "./markup";
import { Responses } from "./responses";
import { Bodies, Limits, Member, typeOf } from "./schema";
import { titleOf, words } from "./text";

interface Props {
  readonly operation: Operation;
  readonly reference: Reference;
}

export function Method({ method }: { method: string }) {
  return <span class={`method ${method.toLowerCase()}`}>{method}</span>;
}

export function OperationPage({ operation, reference }: Props) {
  const { summary, description, tag, parameters, body, responses } = operation;
  return (
    <>
      <nav class="crumbs" aria-label={words.title}>
        <a href="/docs/api">{words.title}</a> › <a href={`/docs/api#${tag}`}>{titleOf(tag)}</a>
      </nav>
      <h1 tabIndex={-1}>
        <Line text={summary} />
      </h1>
      <Signature operation={operation} />
      <div class="operation">
        <div class="described">
          {description === undefined ? null : <Paragraphs text={description} />}
          {parameters.length === 0 ? null : <Parameters parameters={parameters} reference={reference} />}
          {body === undefined ? null : (
            <section>
              <h2>{words.body}</h2>
              <Bodies content={body.content} reference={reference} />
            </section>
          )}
          <Responses responses={responses} reference={reference} />
        </div>
        <div class="beside" id="beside">
          {tag === SENT ? <Example operation={operation} /> : <Call key={operation.id} operation={operation} />}
        </div>
      </div>
      <Neighbours operation={operation} reference={reference} />
    </>
  );
}

/** How it is called and by whom; on a narrow screen, with a way to what is beside the text on others. */
function Signature({ operation: { method, path, tag, open, deprecated } }: { operation: Operation }) {
  const sent = tag === SENT;
  return (
    <p class="signature">
      <Method method={method} />
      {sent ? <span>{words.toReceiver}</span> : <Path path={path} />}
      {sent ? null : <Badge tone={open ? "good" : "idle"}>{open ? words.access.open : words.access.signed}</Badge>}
      {deprecated ? <Badge tone="bad">{words.deprecated}</Badge> : null}
      <a class="to-beside" href="#beside">
        {sent ? words.example : docs.call.title}
      </a>
    </p>
  );
}

function Example({ operation: { body } }: { operation: Operation }) {
  const [first] = Object.values(body?.content ?? {}).flatMap(examples);
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
        {parameters.map(({ name, in: place, schema, required, description, example }) => (
          <Member
            key={`${place} ${name}`}
            name={name}
            type={[words.places[place], ...(schema === undefined ? [] : [typeOf(schema, reference)])].join(", ")}
            required={required}
            description={description}
          >
            {schema === undefined ? null : <Limits schema={{ ...schema, example }} reference={reference} />}
          </Member>
        ))}
      </ul>
    </section>
  );
}

/** The calls before and after, in the order of the overview. */
function Neighbours({ operation, reference }: Props) {
  const all = reference.groups.flatMap(({ operations }) => operations);
  const here = all.indexOf(operation);
  const link = (to: Operation | undefined, rel: string, text: string) =>
    to === undefined ? null : (
      <a href={`/docs/api/${to.id}`} rel={rel}>
        <span>{text}</span>
        <Line text={to.summary} />
      </a>
    );
  return (
    <nav class="neighbours" aria-label={words.between}>
      {link(all[here - 1], "prev", words.previous)}
      {link(all[here + 1], "next", words.next)}
    </nav>
  );
}
