/** A sandbox's state in memory: for Node, for tests, and for sandboxes that need no persistence. */

import { joined, type Group, type KeptAnswer, type Storage, type Stored } from "./storage.js";

/** How often `append` yields, in milliseconds, since no disk makes it wait: a long queue must not block the page. */
const TURN_MS = 12;

/** Stores a sandbox's state for the lifetime of the object. */
export class MemoryStorage implements Storage {
  onlost: ((error: Error) => void) | undefined;
  readonly #era = "memory";
  #last = 0;
  #by: string | undefined;
  #snapshot: Uint8Array | undefined;
  #journal: Uint8Array[] = [];
  #answers: KeptAnswer[] = [];
  #turn = 0;

  load(): Promise<Stored> {
    const journal = this.#journal.length === 0 ? undefined : joined(this.#journal);
    return Promise.resolve({ era: this.#era, last: this.#last, by: this.#by, snapshot: this.#snapshot, journal, answers: this.#answers });
  }

  async append(group: Group): Promise<void> {
    if (group.snapshot === undefined) {
      this.#journal.push(group.entries);
    } else {
      this.#snapshot = group.snapshot;
      this.#journal = [];
      this.#answers = this.#answers.filter((kept) => kept.at >= group.forgetBefore);
    }
    this.#answers.push(...group.answers);
    this.#last = group.number;
    this.#by = group.by;
    if (performance.now() - this.#turn < TURN_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    this.#turn = performance.now();
  }

  close(): void {}
}
