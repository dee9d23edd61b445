/** What a call answers: what it returns, and its errors with their words. */

import { Badge, type Tone } from "../../shared/ui/values";
import type { Answer, Operation, Reference } from "./document";
import { Line } from "./markup";
import { Bodies, Member } from "./schema";
import { words } from "./text";

type Entry = readonly [status: string, answer: Answer];

/** Every status that has no entry of its own. */
const OTHERWISE = "default";
const PROBLEM = "application/problem+json";

const isProblem = ([, { content = {} }]: Entry): boolean => PROBLEM in content;
const isGood = (status: string): boolean => status.startsWith("2");
/** What a reader wants first, comes first; `default` comes after what it does not mean. */
const rank = (status: string): number => (status === OTHERWISE ? 9 : Number(status.charAt(0)));

function toneOf(status: string): Tone {
  if (isGood(status)) return "good";
  return status.startsWith("3") || status === OTHERWISE ? "idle" : "bad";
}

export function Responses({ responses, reference }: { responses: Operation["responses"]; reference: Reference }) {
  const all = Object.entries(responses).sort(([one], [other]) => rank(one) - rank(other));
  const returned = all.filter((entry) => !isProblem(entry));
  const problems = all.filter(isProblem);
  return (
    <>
      {returned.length === 0 ? null : (
        <section>
          <h2>{words.responses}</h2>
          {returned.map((entry, n) => (
            <Returned key={entry[0]} entry={entry} reference={reference} open={n === 0} />
          ))}
        </section>
      )}
      {problems.length === 0 ? null : <Errors problems={problems} />}
    </>
  );
}

/** One answer; it opens if there is more to it than its sentence. */
function Returned({ entry: [status, answer], reference, open }: { entry: Entry; reference: Reference; open: boolean }) {
  const { content = {}, headers = {}, description = "" } = answer;
  const head = (
    <>
      <Badge tone={toneOf(status)}>{status === OTHERWISE ? words.otherwise : status.toLowerCase()}</Badge>
      <span>
        <Line text={description} />
      </span>
    </>
  );
  if (Object.keys(content).length + Object.keys(headers).length === 0) return <p class="response">{head}</p>;
  return (
    <details class="response" open={open}>
      <summary>{head}</summary>
      <ul class="members">
        {Object.entries(headers).map(([name, header]) => (
          <Member key={name} name={name} type={words.header} description={header.description} />
        ))}
      </ul>
      <Bodies content={content} reference={reference} />
    </details>
  );
}

/** The codes of a problem with their words, as its description lists them: `code`: words. */
function codesOf(description: string): readonly (readonly [code: string, says: string])[] {
  return [...description.matchAll(/`([a-z_]+)`: (.+?)(?=\. `|$)/gs)].map(([, code = "", says = ""]) => [code, says] as const);
}

function Errors({ problems }: { problems: readonly Entry[] }) {
  return (
    <section>
      <h2>{words.errors}</h2>
      <ul class="errors">
        {problems.map(([status, { description = "" }]) => (
          <li key={status}>
            <Badge tone="bad">{status}</Badge>
            <ul>
              {codesOf(description).map(([code, says]) => (
                <li key={code}>
                  <a href={`/docs/problems/${code}`}>
                    <code>{code}</code>
                  </a>
                  <span>{says}</span>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  );
}
