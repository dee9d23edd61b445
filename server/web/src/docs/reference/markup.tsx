/** The texts of the document: paragraphs, with code in backticks. Nothing in them becomes markup. */

import { type ComponentChildren, Fragment } from "preact";

/** A line of text. */
export function Line({ text }: { text: string }) {
  return <>{text.split("`").map((part, n) => (n % 2 === 0 ? part : <code>{part}</code>))}</>;
}

export function Paragraphs({ text }: { text: string }) {
  return (
    <>
      {text.split(/\n\s*\n/).map((part) => (
        <p key={part}>
          <Line text={part} />
        </p>
      ))}
    </>
  );
}

/** A path; a narrow screen breaks it before a slash. */
export function Path({ path }: { path: string }) {
  return (
    <code>
      {path.split(/(?=\/)/).map((part, n) => (
        <Fragment key={n}>
          {n === 0 ? null : <wbr />}
          {part}
        </Fragment>
      ))}
    </code>
  );
}

/** A string, perhaps with the colon after a name; or another value. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;

/** JSON with the colours that the code of the guides has. */
function coloured(json: string): readonly ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const { 0: token, 1: string, 2: colon, index } of json.matchAll(TOKEN)) {
    const kind = colon !== undefined ? "attr" : string !== undefined ? "string" : "literal";
    parts.push(json.slice(end, index), <span class={`hljs-${kind}`}>{string ?? token}</span>, colon);
    end = index + token.length;
  }
  return [...parts, json.slice(end)];
}

/** A value as JSON that people read. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <pre tabIndex={0} aria-label={label} role="region">
      <code>{typeof value === "string" ? value : coloured(JSON.stringify(value, null, 2))}</code>
    </pre>
  );
}
