/** What a bundle says: its manifest place by place, and its documents. */

import type { Json, Operators } from "railgate/client";
import { text } from "../../../shared/text";
import { Button } from "../../../shared/ui/button";
import { Empty, Problem } from "../../../shared/ui/feedback";
import { useAct } from "../../data";
import { save } from "../../save";
import { api } from "../../session";
import { placesOf } from "../changes";

type Bundle = Operators.Bundle;

const words = text.operator.bundles;

export function Content({ bundle }: { bundle: Bundle }) {
  return (
    <dl class="places">
      {placesOf(bundle.manifest as unknown as Json).map(({ pointer, value }) => (
        <div key={pointer}>
          <dt>{pointer}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

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
      {act.problem === undefined ? null : <Problem problem={act.problem} />}
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
