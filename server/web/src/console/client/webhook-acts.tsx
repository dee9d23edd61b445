/** What can be asked of a webhook besides settings: a test, and events once more. */

import { useSignal } from "@preact/signals";
import type { WebhookTest, WebhookTopic } from "railgate/client";
import { duration } from "../../shared/format";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Confirm, Dialog } from "../../shared/ui/dialog";
import { Problem, say } from "../../shared/ui/feedback";
import { SelectField, TextField, errorOf } from "../../shared/ui/field";
import { Icon } from "../../shared/ui/icon";
import { Facts } from "../../shared/ui/values";
import { useAct, useKeyedAct } from "../data";
import { api } from "../session";
import { TOPICS } from "./webhook-form";

const words = text.webhooks;

export function TestDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const type = useSignal<WebhookTopic>("settlement.completed");
  const result = useSignal<WebhookTest | undefined>(undefined);
  const act = useAct(async () => {
    result.value = undefined;
    result.value = await api.value.webhooks.test(id, { type: type.value });
  });
  return (
    <Dialog title={words.testTitle} onClose={onClose}>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault();
          void act.run();
        }}
      >
        <SelectField
          label={words.testType}
          value={type.value}
          choices={TOPICS.map((value) => ({ value, label: value }))}
          onValue={(value) => (type.value = value)}
        />
        <Button type="submit" kind="primary" busy={act.busy}>
          {words.testRun}
        </Button>
      </form>
      {act.problem === undefined ? null : <Problem problem={act.problem} />}
      {result.value === undefined ? null : <Tested result={result.value} />}
    </Dialog>
  );
}

function Tested({ result: { delivered, response } }: { result: WebhookTest }) {
  return (
    <div role="status">
      <p class={delivered ? "verdict good" : "verdict bad"}>
        <Icon name={delivered ? "check" : "warn"} />
        {delivered ? words.testDelivered : words.testFailed}
      </p>
      <Facts
        rows={[
          ...(response.status === null ? [] : ([[words.testStatus, String(response.status)]] as const)),
          ...(response.error === null ? [] : ([[words.error, response.error]] as const)),
          [words.testTook, duration(response.took_ms)],
          ...(response.excerpt === "" ? [] : ([[words.testAnswer, <pre key="excerpt">{response.excerpt}</pre>]] as const)),
        ]}
      />
    </div>
  );
}

export function ReplayDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const from = useSignal("");
  const to = useSignal("");
  const act = useKeyedAct(async (key) => {
    const until = to.value === "" ? {} : { until: new Date(to.value) };
    let queued = 0;
    // A long period takes several calls.
    for (let after: number | null | undefined; after !== null;) {
      const request = { since: new Date(from.value), ...until, ...(after === undefined ? {} : { after }) };
      const part = await api.value.webhooks.replay(id, request, { idempotencyKey: `${key} ${after ?? ""}`.trim() });
      queued += part.queued;
      after = part.next_after;
    }
    say(words.replayed(queued));
    onClose();
  });
  return (
    <Confirm
      title={words.replayTitle}
      what={words.replayWhat}
      act={words.replayAct}
      danger={false}
      busy={act.busy}
      problem={act.problem}
      onConfirm={() => void act.run()}
      onClose={onClose}
    >
      <TextField
        label={words.replayFrom}
        type="datetime-local"
        value={from.value}
        onValue={(value) => (from.value = value)}
        error={errorOf(act.problem, "/since")}
      />
      <TextField
        label={words.replayTo}
        type="datetime-local"
        optional
        value={to.value}
        onValue={(value) => (to.value = value)}
        error={errorOf(act.problem, "/until")}
      />
    </Confirm>
  );
}
