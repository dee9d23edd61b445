/** Shows a view once its code is here, and keeps a fault of one view from taking the others with it. */

import { Component, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { text } from "../shared/text";
import { Button } from "../shared/ui/button";
import { Loading } from "../shared/ui/feedback";
import type { View, ViewProps } from "./views";

const loaded = new Map<View["load"], ComponentType<ViewProps>>();

export function Lazy({ view, params }: { view: View; params: ViewProps["params"] }) {
  const [, arrived] = useState(0);
  const [failed, setFailed] = useState<unknown>(undefined);
  const Shown = loaded.get(view.load);
  useEffect(() => {
    if (Shown !== undefined) return;
    setFailed(undefined);
    view.load().then(
      (module) => {
        loaded.set(view.load, module.default);
        arrived((n) => n + 1);
      },
      (error: unknown) => setFailed(error),
    );
  }, [view.load]);
  if (failed !== undefined) throw failed;
  return Shown === undefined ? <Loading /> : <Shown params={params} />;
}

export class Frame extends Component<{ children: ComponentChildren }, { failed: boolean }> {
  override state = { failed: false };

  static override getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidCatch(error: unknown) {
    console.error(error);
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <div class="problem" role="alert">
        <div>
          <p class="problem-title">{text.problem.title}</p>
          <Button icon="refresh" onClick={() => location.reload()}>
            {text.retry}
          </Button>
        </div>
      </div>
    );
  }
}
