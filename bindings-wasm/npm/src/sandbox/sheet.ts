/** Receipts in readable forms. The module that draws them is loaded on first use. */

import { guarded } from "../problem.js";
import type { QrOptions } from "../qr.js";

/** A receipt in a textual form, as a gateway returns it: complete, or the parts to draw it from. */
export type Sheet =
  | { readonly content_type: string; readonly text: string }
  | { readonly content_type: string; readonly parts: readonly string[] };

/** Returns the text of a receipt and draws it if necessary. */
export async function drawn(sheet: Sheet, { title, level, margin, size }: QrOptions = {}): Promise<string> {
  if ("text" in sheet) return sheet.text;
  const { loadSheet } = await import("#load/sheet");
  const { draw_receipt } = await loadSheet();
  const [form] = sheet.content_type.split(";");
  return guarded(() => draw_receipt(form ?? "", sheet.parts, title, level, margin, size));
}
