import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { text } from "../text";

interface PageProps {
  readonly title: string;
  /** Beside the title: what it is about, such as a status. */
  readonly about?: ComponentChildren;
  /** What can be done here. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A view: its title names the document, and gets the focus, so that a screen reader says where the reader is. */
export function Page({ title, about, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${text.product}`;
  }, [title]);
  useEffect(() => {
    // Not on the first page, where the reader begins at the top, nor when something in the page has the focus already.
    if (document.activeElement !== document.body && document.activeElement?.closest("main") === null) {
      heading.current?.focus({ preventScroll: true });
    }
  }, []);
  return (
    <>
      <header class="page-head">
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {about}
        </div>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A part of a page with a heading. */
export function Section({
  title,
  actions,
  children,
  note,
}: {
  title: string;
  note?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="section" aria-label={title}>
      <header class="section-head">
        <h2>{title}</h2>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </header>
      {note === undefined ? null : <p class="note">{note}</p>}
      {children}
    </section>
  );
}
