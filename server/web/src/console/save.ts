/** Gives the reader a file. */

export function save(name: string, content: string | Uint8Array, type: string): void {
  const address = URL.createObjectURL(new Blob([content as BlobPart], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has taken the content by the next turn of its loop.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}
