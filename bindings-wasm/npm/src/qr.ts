/**
 * QR codes (ISO/IEC 18004), such as those on receipts.
 *
 * @module
 */

import { loadQr } from "#load/qr";
import * as check from "./check.js";
import { guarded } from "./problem.js";

export { RailgateError } from "./errors.js";

/**
* Returns a QR code as an SVG document: black on white, with the quiet zone that scanners need.
 *
* @param text - The content: at most 2,953 bytes of UTF-8.
 * @throws {@link RailgateError} with code `invalid_fields` if it is longer.
 */
export async function qrSvg(text: string): Promise<string> {
  const given = check.filled(text, "text");
  const { qr_svg } = await loadQr();
  return guarded(() => qr_svg(given));
}
