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
  const identity = current?.identity ?? opening.value;
  if (identity === undefined) {
    return (
      <>
        <SignIn />
        <Notices />
      </>
    );
  }
  const views = viewsOf(identity);
  const found = find(views, path.value);
  return (
    <>
      <Shell views={views} identity={identity}>
        <Frame key={`${identity.profile}${path.value}`}>
          {current === undefined ? (
            <Loading />
          ) : (
            <Approved identity={identity}>{found === undefined ? <NotFound /> : <Lazy view={found.view} params={found.params} />}</Approved>
          )}
        </Frame>
      </Shell>
      <Keyboard views={views} />
      <SecretOnce />
      <Notices />
    </>
  );
}
