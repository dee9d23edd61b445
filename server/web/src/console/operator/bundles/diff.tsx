/** What changed between two revisions of a bundle. */

import { useSignal } from "@preact/signals";
import type { Operators } from "railgate/client";
import { text } from "../../../shared/text";
import { Shown } from "../../../shared/ui/feedback";
import { SelectField } from "../../../shared/ui/field";
import { Section } from "../../../shared/ui/page";
import { useData } from "../../data";
import { api } from "../../session";
import { Changes } from "../changes";

const words = text.operator.bundles.diff;

export function Diff({ bundle }: { bundle: Operators.Bundle }) {
  const from = useSignal(String(bundle.revision - 1));
  const data = useData(
    (signal) =>
      api.value.call("GET", "/operator/bundles/{id}/diff", {
        params: { id: bundle.id },
        query: { from: Number(from.value), to: bundle.revision },
        signal,
      }),
    ["diff", bundle.id, from.value, bundle.revision],
    { on: false },
  );
  const earlier = Array.from({ length: bundle.revision - 1 }, (_, n) => String(bundle.revision - 1 - n));
  return (
    <Section title={words.title(bundle.revision)}>
      <SelectField
        label={words.from}
        value={from.value}
        choices={earlier.map((value) => ({ value, label: words.revision(value) }))}
        onValue={(value) => (from.value = value)}
      />
      <Shown data={data}>{({ changes }) => <Changes changes={changes} none={words.none} />}</Shown>
    </Section>
  );
}
