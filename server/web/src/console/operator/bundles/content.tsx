/** What a bundle says: its manifest place by place, and its documents. */

import type { Json, Operators } from "railgate/client";
import { text } from "../../../shared/text";
import { Button } from "../../../shared/ui/button";
import { Empty, Problem } from "../../../shared/ui/feedback";
import { useAct } from "../../data";
import { save } from "../../save";
import { api } from "../../session";
import { Places, leavesOf } from "../places";

type Bundle = Operators.Bundle;

const words = text.operator.bundles;

export const Content = ({ bundle }: { bundle: Bundle }) => <Places of={leavesOf(bundle.manifest as unknown as Json)} />;

export function Documents({ bundle }: { bundle: Bundle }) {
  const act = useAct(async (name: string, type: string) => {
    const content = await api.value.call("GET", "/operator/bundles/{id}/documents/{name}", {
      params: { id: bundle.id, name },
      query: { revision: bundle.revision },
      accept: "application/octet-stream",
    });
    save(name, content, type);
  });
  if (bundle.documents.length === 0) return <Empty title={words.noDocuments} />;
  return (
    <>
      {act.problem === undefined ? null : <Problem problem={act.problem} reads />}
      <ul class="identities">
        {bundle.documents.map(({ name, bytes, media_type }) => (
          <li key={name}>
            <Button icon="out" onClick={() => void act.run(name, media_type)}>
              {name}
            </Button>
            <span class="optional">{words.bytes(bytes)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
