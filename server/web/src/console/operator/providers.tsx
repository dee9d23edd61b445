/** All providers, the unwell first. */

import { text } from "../../shared/text";
import { Shown } from "../../shared/ui/feedback";
import { Page } from "../../shared/ui/page";
import { useData } from "../data";
import { href } from "../router";
import { api } from "../session";
import { WATCHED } from "./act";
import { Providers } from "./home/providers";
import { useMay } from "./people";

const words = text.operator.providers;

export default function ProvidersPage() {
  const data = useData((signal) => api.value.call("GET", "/operator/providers", { signal }), ["providers"], WATCHED);
  const may = useMay("agent");
  return (
    <Page
      title={text.operator.nav.providers}
      actions={
        may ? (
          <a class="button plain" href={href("/new-provider")}>
            {words.add}
          </a>
        ) : undefined
      }
    >
      <p class="note">{words.intro}</p>
      <Shown data={data}>
        {(found) => (
          <div class="section flush">
            <Providers providers={found.data} />
          </div>
        )}
      </Shown>
    </Page>
  );
}
