import { text } from "../../shared/text";
import { Page } from "../../shared/ui/page";

export default function Overview() {
  return <Page title={text.client.nav.overview}>{null}</Page>;
}
