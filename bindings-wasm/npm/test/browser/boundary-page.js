// The script of boundary.test.js's page: loads the modules from wasm-bindgen, fetched as files.
import * as client from "../../wasm/client.js";
import * as forms from "../../wasm/forms.js";
import * as gateway from "../../wasm/gateway.js";
import * as log from "../../wasm/log.js";
import * as qr from "../../wasm/qr.js";
import * as receipt from "../../wasm/receipt.js";
import * as sheet from "../../wasm/sheet.js";
import * as webhook from "../../wasm/webhook.js";
import { tryAll } from "../boundary.js";

const modules = { client, forms, gateway, log, qr, receipt, sheet, webhook };

globalThis.tryModules = async () => {
  await Promise.all(Object.entries(modules).map(([name, module]) => module.default({ module_or_path: `/${name}_bg.wasm` })));
  return tryAll(modules);
};
