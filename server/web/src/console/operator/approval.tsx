/** What one operator asked for, with what would change, and the decision of another one. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Json, JsonObject, OperatorAct, Operators } from "railgate/client";
import { text } from "../../shared/text";
import { Button } from "../../shared/ui/button";
import { Shown } from "../../shared/ui/feedback";
import { TextField } from "../../shared/ui/field";
import { Page, Section } from "../../shared/ui/page";
import { Copy, Facts, Time } from "../../shared/ui/values";
import { useData } from "../data";
import { api } from "../session";
import type { ViewProps } from "../views";
import { Act, WATCHED } from "./act";
import { ApprovalBadge } from "./badges";
import { Changes, changesOf } from "./changes";
import { agreedNow } from "./clients/agreed";
import { Person, isMe, useMay } from "./people";
import { Places, leavesOf } from "./places";
import { changesAt } from "./providers/config";
import { SubjectWithId, subjectHref } from "./subjects";

type Approval = Operators.Approval;

const words = text.operator.approvals;

export default function ApprovalPage({ params }: ViewProps) {
  const id = params["id"] ?? "";
  const data = useData(
    (signal) => api.value.call("GET", "/operator/approvals/{id}", { params: { id }, signal }),
    ["approval", id],
    WATCHED,
  );
  const found = data.value;
  return (
    <Page
      title={found === undefined ? words.one : text.operator.acts[found.act]}
      about={found === undefined ? undefined : <ApprovalBadge status={found.status} />}
    >
      <Shown data={data}>
        {(approval) => (
          <>
            <Section title={words.asked}>
              <AskedFacts approval={approval} />
            </Section>
            <Section title={words.request} note={words.requestNote}>
              <Request approval={approval} />
            </Section>
            {approval.status === "pending" ? <Decision approval={approval} onDone={data.reload} /> : null}
          </>
        )}
      </Shown>
    </Page>
  );
}

function AskedFacts({ approval }: { approval: Approval }) {
  const decided = approval.decided_at;
  return (
    <Facts
      rows={[
        [words.columns.subject, <a href={subjectHref(approval)}>
            <SubjectWithId {...approval} />
          </a>],
        [words.columns.by, <Person id={approval.asked_by} />],
        [words.columns.at, <Time at={approval.asked_at} full />],
        [words.columns.why, approval.reason ?? "–"],
        approval.status === "pending"
          ? [words.expires, <Time at={approval.expires_at} full />]
          : [words.decided, decided ? <Time at={decided} full /> : "–"],
        ...(approval.decided_by ? [[words.decidedBy, <Person id={approval.decided_by} />] as const] : []),
        ...(approval.comment ? [[words.comment, approval.comment] as const] : []),
        [words.id, <Copy value={approval.id} />],
      ]}
    />
  );
}

/** What was asked for: where it replaces something, what that changes now; otherwise each member of the request. */
function Request({ approval }: { approval: Approval }) {
  const Change = approval.status === "pending" ? CHANGES[approval.act] : undefined;
  if (Change !== undefined) return <Change approval={approval} />;
  // The reason is among the facts above.
  const leaves = leavesOf(approval.request).filter(({ pointer }) => pointer !== "/reason");
  if (leaves.length === 0) return <p class="note">{words.noRequest}</p>;
  return <Places of={leaves} />;
}

/** Views are JSON, which their types do not say. */
const asJson = (view: object): Json => view as unknown as Json;
const isMissing = (error: unknown): boolean => (error as { status?: number }).status === 404;

function ProviderChange({ approval }: { approval: Approval }) {
  const data = useData(
    async (signal) => {
      try {
        return await api.value.call("GET", "/operator/providers/{id}", { params: { id: approval.subject }, signal });
      } catch (error) {
        if (isMissing(error)) return "new" as const;
        throw error;
      }
    },
    ["provider", approval.subject],
    { on: false },
  );
  const request = approval.request as JsonObject;
  return <Shown data={data}>{(now) => <Changes changes={changesAt(now === "new" ? undefined : now, request)} />}</Shown>;
}

function RoutesChange({ approval }: { approval: Approval }) {
  const data = useData((signal) => api.value.call("GET", "/operator/routes", { signal }), ["routes"], { on: false });
  const { routes } = approval.request as { routes?: Json };
  return <Shown data={data}>{(now) => <Changes changes={changesOf(asJson(now.routes), routes, "/routes")} />}</Shown>;
}

/** Terms of a client, and its credit: what is in force now, and what it is about. */
function AgreedChange({ approval }: { approval: Approval }) {
  const id = approval.subject;
  const data = useData((signal) => api.value.call("GET", "/operator/clients/{id}", { params: { id }, signal }), ["client", id], WATCHED);
  const { reason: _, ...request } = approval.request as JsonObject;
  return (
    <Shown data={data}>
      {(client) => {
        const before = agreedNow(approval.act, client, request);
        const about = Object.fromEntries(Object.entries(request).filter(([name]) => !(name in before)));
        // What a request does not name stays.
        const after = Object.fromEntries(Object.entries(before).map(([name, now]) => [name, name in request ? (request[name] ?? null) : now]));
        return (
          <>
            <Places of={leavesOf(about)} />
            <Changes changes={changesOf(before, after)} />
          </>
        );
      }}
    </Shown>
  );
}

/** What is shown of a request that replaces something. */
const CHANGES: Partial<Record<OperatorAct, (props: { approval: Approval }) => ComponentChildren>> = {
  put_provider: ProviderChange,
  put_routes: RoutesChange,
  set_limits: AgreedChange,
  set_fees: AgreedChange,
  set_floor: AgreedChange,
  set_session_signatures: AgreedChange,
};

/** Another one confirms or declines; whoever asked may withdraw. */
function Decision({ approval, onDone }: { approval: Approval; onDone: () => void }) {
  const comment = useSignal("");
  const open = useSignal<"confirm" | "decline" | undefined>(undefined);
  const may = useMay("approver");
  const own = isMe(approval.asked_by);
  if (!may) return <p class="note">{words.readOnly}</p>;
  const decide = (how: "confirm" | "decline", idempotencyKey: string) =>
    api.value.call("POST", `/operator/approvals/{id}/${how}`, {
      params: { id: approval.id },
      body: comment.value.trim() === "" ? {} : { comment: comment.value.trim() },
      idempotencyKey,
    });
  const what = text.operator.acts[approval.act];
  return (
    <Section title={words.decision} note={own ? words.own : words.decisionNote}>
      <TextField label={words.comment} optional maxLength={500} value={comment.value} onValue={(value) => (comment.value = value)} />
      <div class="dialog-foot">
        <Button onClick={() => (open.value = "decline")}>{own ? words.withdraw : words.decline}</Button>
        {own ? null : (
          <Button kind="primary" onClick={() => (open.value = "confirm")}>
            {words.confirm}
          </Button>
        )}
      </div>
      {open.value === "confirm" ? (
        <Act
          title={words.confirmTitle}
          what={<>{what}: <SubjectWithId {...approval} />. {words.confirmWhat}</>}
          rule={{ said: text.operator.who.second }}
          act={words.confirm}
          reason="none"
          run={async (_, key) => void (await decide("confirm", key))}
          done={words.confirmed}
          onDone={onDone}
          onClose={() => (open.value = undefined)}
        />
      ) : open.value === "decline" ? (
        <Act
          title={own ? words.withdrawTitle : words.declineTitle}
          what={words.declineWhat}
          rule="alone"
          act={own ? words.withdraw : words.decline}
          danger
          reason="none"
          run={async (_, key) => void (await decide("decline", key))}
          done={own ? words.withdrawn : words.declined}
          onDone={onDone}
          onClose={() => (open.value = undefined)}
        />
      ) : null}
    </Section>
  );
}
