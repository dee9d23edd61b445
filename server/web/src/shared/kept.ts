/**
 * Small preferences that this browser keeps: the theme, names of identities, saved views. Never a key, a token or a secret: any script
 * of this origin can read them.
 */

const PREFIX = "railgate.";

export interface Kept<T> {
  read(): T;
  write(value: T): void;
}

/** A preference under this name; `initial` until one is stored, and in a browser that stores nothing. */
export function kept<T>(name: string, initial: T): Kept<T> {
  return {
    read() {
      try {
        const text = localStorage.getItem(PREFIX + name);
        return text === null ? initial : (JSON.parse(text) as T);
      } catch {
        return initial;
      }
    },
    write(value) {
      try {
        localStorage.setItem(PREFIX + name, JSON.stringify(value));
      } catch {
        // Full or forbidden: the preference lasts as long as the page.
      }
    },
  };
}
