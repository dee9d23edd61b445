/** The console: who is signed in decides what there is. */

import { Loading, Notices } from "../shared/ui/feedback";
import { Approved } from "./approved";
import { Keyboard } from "./keyboard";
import { NotFound } from "./not-found";
import { path } from "./router";
import { SecretOnce } from "./secret";
import { opening, session } from "./session";
import { Shell } from "./shell";
import { SignIn } from "./sign-in";
import { Frame, Lazy } from "./view";
import { find, viewsOf } from "./views";

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
          <Approved identity={current.identity}>
            {found === undefined ? <NotFound /> : <Lazy view={found.view} params={found.params} />}
          </Approved>
        </Frame>
      </Shell>
      <Keyboard views={views} />
      <SecretOnce />
      <Notices />
    </>
  );
}

