/** Receipts as people see them. What draws them is loaded when the first is asked for. */

import { guarded } from "../problem.js";

/** A receipt in a form that is text, as a gateway answers: drawn, or what it is to be drawn from. */
export type Sheet =
  | { readonly content_type: string; readonly text: string }
  | { readonly content_type: string; readonly parts: readonly string[] };

/** The text of it. */
export async function drawn(sheet: Sheet): Promise<string> {
  if ("text" in sheet) return sheet.text;
  const { loadSheet } = await import("#load/sheet");
  const { draw_receipt } = await loadSheet();
  const [form] = sheet.content_type.split(";");
  return guarded(() => draw_receipt(form ?? "", sheet.parts));
}
