/** The console: who is signed in decides what there is. */

import { Loading, Notices } from "../shared/ui/feedback";
import { Keyboard } from "./keyboard";
import { opening, session } from "./session";
import { SecretOnce } from "./secret";
import { Shell } from "./shell";
import { SignIn } from "./sign-in";
import { Frame, Lazy } from "./view";
import { find, viewsOf } from "./views";
import { path } from "./router";
import { NotFound } from "./not-found";

export function App() {
  const current = session.value;
  if (opening.value) return <Loading />;
  if (current === undefined) {
    return (
      <>
        <SignIn />
        <Notices />
      </>
    );
  }
  const views = viewsOf(current.identity);
  const found = find(views, path.value);
  return (
    <>
      <Shell views={views} identity={current.identity}>
        <Frame key={`${current.identity.profile}${path.value}`}>
          {found === undefined ? <NotFound /> : <Lazy view={found.view} params={found.params} />}
        </Frame>
      </Shell>
      <Keyboard views={views} />
      <SecretOnce />
      <Notices />
    </>
  );
}

