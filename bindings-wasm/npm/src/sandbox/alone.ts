/** A gateway in memory, not shared with other tabs. */

import { DisposedError } from "../errors.js";
import { Changes } from "./changes.js";
import { Keeper, type Parts } from "./keeper.js";
import type { Port, Sending } from "./port.js";

/** The port to a gateway of this sandbox alone. */
export class Alone implements Port {
  readonly changes = new Changes();
  readonly leads = true;
  #keeper: Keeper | undefined;

  /** Opens the gateway and its port. */
  static async open(parts: Omit<Parts, "changed" | "lost">): Promise<Alone> {
    const port = new Alone();
    port.#keeper = await Keeper.open({ ...parts, changed: () => port.changes.tell(), lost: (error) => port.changes.end(error) });
    return port;
  }

  request(request: string, { signal }: Sending): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#keeper === undefined) throw new DisposedError("sandbox");
      this.#keeper.submit({ request, keep: undefined, since: undefined, signal, resolve, reject });
    });
  }

  async close(): Promise<void> {
    const keeper = this.#keeper;
    this.#keeper = undefined;
    this.changes.end(new DisposedError("sandbox"));
    await keeper?.close();
  }
}
