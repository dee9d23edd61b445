/** The texts of the document: paragraphs, with code in backticks. Nothing in them becomes markup. */

import type { ComponentChildren } from "preact";

/** Codes of problems in a text lead to their pages. */
const CODE = /^[a-z]+(?:_[a-z]+)+$/;

function piece(text: string, n: number, codes: boolean): ComponentChildren {
  if (n % 2 === 0) return text;
  return codes && CODE.test(text) ? (
    <a href={`/docs/problems/${text}`}>
      <code>{text}</code>
    </a>
  ) : (
    <code>{text}</code>
  );
}

/** A line of text; `codes` makes links of error codes. */
export function Line({ text, codes = false }: { text: string; codes?: boolean }) {
  return <>{text.split("`").map((part, n) => piece(part, n, codes))}</>;
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

/** A value as JSON that people read. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <pre tabIndex={0} aria-label={label} role="region">
      <code>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</code>
    </pre>
  );
}
