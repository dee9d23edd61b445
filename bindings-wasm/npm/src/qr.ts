/**
 * QR codes (ISO/IEC 18004), such as those on receipts.
 *
 * @module
 */

import { loadQr } from "#load/qr";
import * as check from "./check.js";
import { guarded } from "./problem.js";

export { RailgateError } from "./errors.js";

/** How a QR code is drawn. */
export interface QrOptions {
  /** The image's side in pixels: 4 for each module by default. The image scales without loss, so CSS may set another size. */
  readonly size?: number;
  /** Light modules around the code: 4 by default, as scanners need. Less if what surrounds the image is light. */
  readonly margin?: number;
  /** How much of the code may be damaged: `L` 7 % (the default), `M` 15 %, `Q` 25 %, `H` 30 %. The more, the larger the code. */
  readonly level?: "L" | "M" | "Q" | "H";
  /** The alternative text, for those who cannot see the image. */
  readonly title?: string;
}

/**
 * Returns a QR code as an SVG document, black on white.
 *
 * @param text - The content: at most 2,953 bytes of UTF-8 at level `L`, 2,331 at `M`, 1,663 at `Q`, 1,273 at `H`.
 * @throws {@link RailgateError} with code `invalid_fields` if it is longer, or an option is out of range.
 */
export async function qrSvg(text: string, options: QrOptions = {}): Promise<string> {
  const given = check.filled(text, "text");
  const { title, level, margin, size } = check.object(options, "options") as QrOptions;
  const wrong = (name: string, kind: string): never => {
    throw new TypeError(`options.${name} must be a ${kind}`);
  };
  for (const [name, value] of Object.entries({ title, level })) if (value !== undefined && typeof value !== "string") wrong(name, "string");
  for (const [name, value] of Object.entries({ margin, size })) if (value !== undefined && typeof value !== "number") wrong(name, "number");
  const { qr_svg } = await loadQr();
  return guarded(() => qr_svg(given, title, level, margin, size));
}
