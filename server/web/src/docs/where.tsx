/** The choice of a gateway to try, and the key for the one on the server. */

import { useEffect, useId, useState } from "preact/hooks";
import { useAct } from "../shared/act";
import { docs } from "../shared/text/docs";
import { Button } from "../shared/ui/button";
import { Problem } from "../shared/ui/feedback";
import { TextField } from "../shared/ui/field";
import { type Where, client, enroll, enrolledAs, forget, openServer, where } from "./gateways";

const words = docs.call;

/** Whether a call can be made now: the tab always, the server once its client is enrolled. */
export const isReady = (): boolean => where.value === "tab" || enrolledAs.value !== undefined;

export function ChooseGateway() {
  const name = useId();
  const choice = (value: Where, label: string) => (
    <label class="check">
      <input type="radio" name={name} checked={where.value === value} onChange={() => (where.value = value)} />
      {label}
    </label>
  );
  return (
    <fieldset class="where">
      <legend>{words.where}</legend>
      {choice("tab", words.tab)}
      {choice("server", words.server)}
      <p class="hint">{where.value === "tab" ? words.tabNote : words.serverNote}</p>
      {where.value === "server" ? <Key /> : null}
    </fieldset>
  );
}

/** The key at the server: made and enrolled here, shown, and deleted. */
function Key() {
  const [name, setName] = useState("Reader");
  const opening = useAct(openServer);
  const enrolling = useAct(enroll);
  const forgetting = useAct(forget);
  useEffect(() => {
    if (client.value === undefined) void opening.run();
  }, [client.value]);
  const problem = opening.problem ?? enrolling.problem ?? forgetting.problem;
  return (
    <div class="key">
      {problem === undefined ? null : <Problem problem={problem} />}
      {enrolledAs.value !== undefined ? (
        <p>
          {words.as(enrolledAs.value)} <Button onClick={() => void forgetting.run()}>{words.forget}</Button>
        </p>
      ) : client.value === undefined ? null : (
        <>
          <TextField label={words.name} value={name} onValue={setName} />
          <Button busy={enrolling.busy} onClick={() => void enrolling.run(name)}>
            {enrolling.busy ? words.enrolling : words.enroll}
          </Button>
        </>
      )}
    </div>
  );
}
