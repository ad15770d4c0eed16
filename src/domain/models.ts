import { BerthError } from "../contract/errors.ts";

/** The providers that this installation can reach. */
export interface ReachableModels {
  anthropic: boolean;
}

/**
 * The provider's own name of an agent's model, `anthropic/claude-…` → `claude-…`. Throws `model_not_available`
 * with what is allowed. The demonstration model answers whatever it is called.
 */
export function providerModel(model: string, reachable: ReachableModels): string {
  const [, provider, name] = /^([a-z]+)\/(\S+)$/.exec(model) ?? [];
  if (reachable.anthropic && provider === "anthropic" && name) return name;
  if (!reachable.anthropic && model === "demo/demo") return "demo";
  const allowed = reachable.anthropic ? ["anthropic/<a model of Anthropic's>"] : ["demo/demo"];
  throw new BerthError(
    "model_not_available",
    `The model ${model} is not available. Available here: ${allowed.join(", ")}.`,
    {
      details: { available: allowed },
    },
  );
}
