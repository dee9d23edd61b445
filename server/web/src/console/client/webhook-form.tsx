/** What a webhook is told, and where: for a new one, and for changing one. */

import { useSignal } from "@preact/signals";
import { EVENT_TYPES, type Webhook, type WebhookRequest, type WebhookTopic } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Dialog } from "../../shared/ui/dialog";
import { Problem } from "../../shared/ui/feedback";
import { CheckField, SelectField, TextField, errorOf } from "../../shared/ui/field";
import { useKeyedAct } from "../data";

const words = text.webhooks;

/** The events that a webhook can choose; what is told of bundles and of itself has no trace. */
export const TOPICS: readonly WebhookTopic[] = [
  ...EVENT_TYPES,
  "bundle.submitted",
  "bundle.in_review",
  "bundle.approved",
  "bundle.rejected",
  "bundle.changes_requested",
  "bundle.withdrawn",
  "bundle.published",
  "bundle.revoked",
  "webhook.disabled",
];

interface WebhookFormProps {
  readonly title: string;
  readonly act: string;
  readonly webhook?: Webhook;
  readonly onSave: (request: WebhookRequest, idempotencyKey: string) => Promise<unknown>;
  readonly onClose: () => void;
}

export function WebhookForm({ title, act, webhook, onSave, onClose }: WebhookFormProps) {
  const url = useSignal(webhook?.url ?? "");
  const description = useSignal(webhook?.description ?? "");
  const every = useSignal(webhook?.all_events ?? true);
  const chosen = useSignal<readonly WebhookTopic[]>(webhook === undefined || webhook.all_events ? [] : webhook.events);
  const saving = useKeyedAct(async (idempotencyKey) => {
    const request = {
      url: url.value.trim(),
      events: every.value ? ("*" as const) : chosen.value,
      ...(description.value === "" && webhook === undefined ? {} : { description: description.value }),
    };
    await onSave(request, idempotencyKey);
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose} wide={!every.value}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void saving.run();
        }}
      >
        <TextField
          label={words.url}
          hint={words.urlHint}
          type="url"
          value={url.value}
          onValue={(value) => (url.value = value)}
          error={errorOf(saving.problem, "/url")}
        />
        <TextField
          label={words.description}
          optional
          value={description.value}
          onValue={(value) => (description.value = value)}
          error={errorOf(saving.problem, "/description")}
        />
        <SelectField
          label={words.events}
          value={every.value ? "all" : "some"}
          choices={[
            { value: "all", label: words.all },
            { value: "some", label: words.some },
          ]}
          onValue={(value) => (every.value = value === "all")}
          error={errorOf(saving.problem, "/events")}
        />
        {every.value ? null : (
          <fieldset class="topics">
            <legend>{words.some}</legend>
            {TOPICS.map((topic) => (
              <CheckField
                key={topic}
                label={topic}
                checked={chosen.value.includes(topic)}
                onValue={(checked) => (chosen.value = checked ? [...chosen.value, topic] : chosen.value.filter((one) => one !== topic))}
              />
            ))}
          </fieldset>
        )}
        {saving.problem === undefined ? null : <Problem problem={saving.problem} />}
        <footer class="dialog-foot">
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button type="submit" kind="primary" busy={saving.busy}>
            {act}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
