import type { Model } from "@berth/client";
import { credits } from "../ui/credits.ts";

/** A model with what it costs. */
export function modelLabel({ id, inputPrice, outputPrice }: Model): string {
  if (inputPrice === null || outputPrice === null) return id;
  return `${id} (${credits(inputPrice)} in, ${credits(outputPrice)} out)`;
}
