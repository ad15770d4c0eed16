import type { Agent } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { runtimesQuery } from "../api/queries.ts";
import { demoModel } from "./demo-model.ts";

/**
 * The default model of an agent's runtime, null while it is not known, and whether the agent's model is the demonstration
 * model.
 */
export function useModel({ runtime, model }: Pick<Agent, "runtime" | "model">) {
  const { data: runtimes = [] } = useQuery(runtimesQuery);
  const defaultModel = runtimes.find(({ name }) => name === runtime)?.defaultModel ?? null;
  return { defaultModel, isDemo: (model ?? defaultModel) === demoModel };
}
