import { render } from "preact";
import { applyTheme } from "../shared/theme";
import { App } from "./app";
import { followLinks } from "./router";
import { resume } from "./session";

applyTheme();
followLinks();
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
void resume();
