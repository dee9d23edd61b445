/** All calls, by what they are about. */

import { useState } from "preact/hooks";
import { type Operation, type Reference, SENT } from "./document";
import { Line, Paragraphs, Path } from "./markup";
import { Method } from "./operation";
import { titleOf, words } from "./text";

const has = (operation: Operation, wanted: string): boolean =>
  `${operation.method} ${operation.path} ${operation.summary} ${operation.id}`.toLowerCase().includes(wanted);

export function Overview({ reference }: { reference: Reference }) {
  const [wanted, setWanted] = useState("");
  const groups = reference.groups
    .map((group) => ({ ...group, operations: group.operations.filter((one) => has(one, wanted.trim().toLowerCase())) }))
    .filter(({ operations }) => operations.length > 0);
  return (
    <>
      <h1 tabIndex={-1}>{words.title}</h1>
      <div class="lead">
        <Paragraphs text={reference.intro} />
      </div>
      <details class="signing">
        <summary>{words.signing}</summary>
        <Paragraphs text={reference.signing} />
      </details>
      <input
        class="input filter"
        type="search"
        list={undefined}
        aria-label={words.filter}
        placeholder={words.filter}
        value={wanted}
        onInput={(event) => setWanted(event.currentTarget.value)}
      />
      {groups.length === 0 ? <p class="note">{words.nothing}</p> : null}
      {groups.map(({ tag, description, operations }) => (
        <section key={tag} id={tag} class="group">
          <h2>{titleOf(tag)}</h2>
          {description === "" ? null : <p class="note">{description}</p>}
          <ul>
            {operations.map((one) => (
              <li key={one.id}>
                <a href={`/docs/api/${one.id}`}>
                  <Method method={one.method} />
                  <span>
                    <Line text={one.summary} />
                  </span>
                  {tag === SENT ? null : <Path path={one.path} />}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}
