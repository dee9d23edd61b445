/** Light or dark: as the system has it, unless the reader chose one for this browser. */

import { signal } from "@preact/signals";
import { kept } from "./kept";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const stored = kept<Theme>("theme", "system");

export const theme = signal<Theme>(THEMES.includes(stored.read()) ? stored.read() : "system");

export function applyTheme(): void {
  const root = document.documentElement;
  if (theme.value === "system") delete root.dataset.theme;
  else root.dataset.theme = theme.value;
}

export function chooseTheme(next: Theme): void {
  theme.value = next;
  stored.write(next);
  applyTheme();
}
