/**
 * Small things that this browser keeps: the theme, names of identities, saved views, what was not answered. Never a key, a token or a secret: any script
 * of this origin can read them.
 */

const PREFIX = "railgate.";

export interface Kept<T> {
  read(): T;
  write(value: T): void;
}

/** A preference under this name; `initial` until one is stored, and in a browser that stores nothing. Of a tab, it goes with the tab. */
export function kept<T>(name: string, initial: T, storage: "localStorage" | "sessionStorage" = "localStorage"): Kept<T> {
  return {
    read() {
      try {
        const text = globalThis[storage].getItem(PREFIX + name);
        return text === null ? initial : (JSON.parse(text) as T);
      } catch {
        return initial;
      }
    },
    write(value) {
      try {
        globalThis[storage].setItem(PREFIX + name, JSON.stringify(value));
      } catch {
        // Full or forbidden: the preference lasts as long as the page.
      }
    },
  };
}
