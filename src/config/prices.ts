import { readFileSync } from "node:fs";
import { z } from "zod";
import type { ModelPrice } from "../contract/models.ts";
import { safeParseValue, textOf } from "../contract/validation.ts";

const microPerCredit = 1_000_000;

/** Credits per million tokens, `"300"` or `0.5`, as in `GET /models`. */
const credits = z
  .union([z.number(), z.string().regex(/^\d+(\.\d{1,6})?$/, "A price is a decimal number of credits, such as 0.5.")])
  .transform(Number)
  .pipe(z.number().min(0).max(1_000_000_000))
  .transform((price) => Math.round(price * microPerCredit));

const ids = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}\/\S+$/, "A model is named provider/name, and all of a kind by provider/beginning*.");

const PricesFile = z.record(
  ids,
  z.strictObject({
    inputPrice: credits,
    outputPrice: credits,
    cacheReadPrice: credits.optional(),
    cacheWritePrice: credits.optional(),
    cacheWriteHourPrice: credits.optional(),
    inputAudioPrice: credits.optional(),
    outputAudioPrice: credits.optional(),
    webSearchPrice: credits.optional(),
  }),
);

/**
 * Reads a JSON file of prices by model id, in credits per million tokens, and for one web search. Cached input and sound
 * cost the same as other input and output by default. Throws an error that says what is wrong.
 */
export function readPrices(file: string): Readonly<Record<string, ModelPrice>> {
  const parsed = safeParseValue(PricesFile, JSON.parse(readFileSync(file, "utf8")));
  if (!parsed.success) throw new Error(`${file} is not allowed. ${textOf(parsed.issues)}`);
  return Object.fromEntries(
    Object.entries(parsed.data).map(([id, price]) => [
      id,
      {
        input: price.inputPrice,
        output: price.outputPrice,
        cacheRead: price.cacheReadPrice ?? price.inputPrice,
        cacheWrite: price.cacheWritePrice ?? price.inputPrice,
        cacheWriteHour: price.cacheWriteHourPrice ?? price.cacheWritePrice ?? price.inputPrice,
        inputAudio: price.inputAudioPrice ?? price.inputPrice,
        outputAudio: price.outputAudioPrice ?? price.outputPrice,
        webSearch: price.webSearchPrice ?? null,
      },
    ]),
  );
}
