import type { RemoteWork } from "./wires/wire.ts";

interface Rules {
  /** Names that every agent may use. */
  hostedTools: readonly string[];
  allowUnpriced: boolean;
}

/** Why the provider may not run or fetch what a request asks for, in words for the guest; null if it may. */
export async function problemOf(
  remote: readonly RemoteWork[],
  { hostedTools, allowUnpriced }: Rules,
  caller: { mayReachAll(): Promise<boolean> },
): Promise<string | null> {
  const inQuestion = remote.filter(({ name }) => !hostedTools.includes(name));
  const unpriced = allowUnpriced ? undefined : inQuestion.find((work) => !work.priced);
  if (unpriced) {
    return `The price of ${unpriced.name}, which the model's provider runs, is not known here. The operator can allow it (BERTH_HOSTED_TOOLS).`;
  }
  if (inQuestion.length === 0 || (await caller.mayReachAll())) return null;
  const names = inQuestion.map(({ name }) => name).join(", ");
  return `The model's provider would reach the network for the agent (${names}), which the agent's egress rules do not allow. The operator can allow it (BERTH_HOSTED_TOOLS).`;
}
