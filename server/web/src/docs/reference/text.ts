/** The words of the reference. */

import { capital } from "../../shared/capital";
import { docs } from "../../shared/text/docs";
import { SENT } from "./document";

export const words = docs.reference;

/** The title of a group of calls, from its tag. */
export const titleOf = (tag: string): string => (tag === SENT ? words.webhooks : capital(tag));

/** A size, as a sentence has it; empty if it is not bounded. */
export function sized(unit: string, least: number | undefined, most: number | undefined): string {
  if (least === undefined && most === undefined) return "";
  if (least === undefined) return `at most ${most} ${unit}`;
  if (most === undefined) return `at least ${least} ${unit}`;
  return least === most ? `${least} ${unit}` : `${least} to ${most} ${unit}`;
}
