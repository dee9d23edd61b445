// The modules of the core, and the entries of the package that load them.
import { fileURLToPath } from "node:url";

/** The package's folder. */
export const root = fileURLToPath(new URL("..", import.meta.url));

/** Built by ../build.sh into wasm/. */
export const modules = ["receipt", "log", "webhook", "forms", "qr", "client", "gateway", "sheet"];

/** The catalogues of messages for payers, in core/src/validate/messages/. */
export const languages = ["en", "fr", "sw"];
