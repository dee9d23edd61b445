/** The first page: what needs somebody now, what is unusual, what is getting old, and how the providers are. */

import { text } from "../../shared/text";
import { Shown } from "../../shared/ui/feedback";
import { Page, Section } from "../../shared/ui/page";
import { useData } from "../data";
import { WATCHED } from "./act";
import { Compared } from "./home/compared";
import { Needs } from "./home/needs";
import { Old } from "./home/old";
import { Providers, Servers } from "./home/providers";
import { readPicture } from "./home/picture";
import { Webhooks } from "./home/webhooks";

const words = text.operator.home;

export default function Home() {
  // It is a summary of much: under load, it is read no more often than this.
  const data = useData(readPicture, ["picture"], { ...WATCHED, gatherMs: 4_000 });
  return (
    <Page title={text.operator.nav.home}>
      <Shown data={data}>
        {(picture) => (
          <>
            <div class="split">
              <Section title={words.needs}>
                <Needs picture={picture} />
              </Section>
              <Section title={words.old}>
                <Old picture={picture} />
              </Section>
            </div>
            <Section title={words.unusual} note={words.unusualNote}>
              <Compared picture={picture} />
              <Webhooks picture={picture} />
            </Section>
            <Section title={words.providers}>
              <Providers providers={picture.providers} />
            </Section>
            <Section title={words.servers}>
              <Servers nodes={picture.now.nodes} />
            </Section>
          </>
        )}
      </Shown>
    </Page>
  );
}
