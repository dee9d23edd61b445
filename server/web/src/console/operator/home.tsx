import { text } from "../../shared/text";
import { Page } from "../../shared/ui/page";

export default function Home() {
  return <Page title={text.operator.nav.home}>{null}</Page>;
}
