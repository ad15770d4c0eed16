import { calcPrice } from "@pydantic/genai-prices";
import type { TokenCounts } from "./wires/wire.ts";

/** The demonstration model's made-up price, in US dollars for a million tokens. */
const demoPrice = { input: 1, output: 5 };
/** A credit is a US cent; whole millionths of it are what is counted. */
const microCreditsPerDollar = 100 * 1_000_000;

/**
 * What tokens of a model cost, in whole micro-credits; null where the price is not known. Prices are those of the
 * package, https://github.com/pydantic/genai-prices.
 */
export function priceOf(model: string, tokens: TokenCounts): number | null {
  const dollars = dollarsFor(model, tokens);
  return dollars === null ? null : Math.round(dollars * microCreditsPerDollar);
}

function dollarsFor(
  model: string,
  { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }: TokenCounts,
): number | null {
  const [provider = "", name = ""] = splitModel(model);
  if (provider === "demo") return (input * demoPrice.input + output * demoPrice.output) / 1_000_000;
  const usage = {
    input_tokens: input,
    output_tokens: output,
    // The package refuses a part of the input that it has no price for, where there is none of it, too.
    ...(cacheRead > 0 ? { cache_read_tokens: cacheRead } : {}),
    ...(cacheWrite > 0 ? { cache_write_tokens: cacheWrite } : {}),
  };
  try {
    return calcPrice(usage, name, { providerId: provider })?.total_price ?? null;
  } catch {
    return null;
  }
}

/** `provider/name`; the name may have slashes of its own. */
function splitModel(model: string): [string, string] {
  const slash = model.indexOf("/");
  return [model.slice(0, slash), model.slice(slash + 1)];
}
