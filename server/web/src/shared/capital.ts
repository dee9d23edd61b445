/** A text that begins as a sentence does. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
