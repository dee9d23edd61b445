import { text } from "../shared/text";
import { Page } from "../shared/ui/page";
import { href } from "./router";

export function NotFound() {
  return (
    <Page title={text.notFound.title}>
      <p>{text.notFound.text}</p>
      <p>
        <a href={href("/")}>{text.notFound.home}</a>
      </p>
    </Page>
  );
}
