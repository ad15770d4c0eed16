import type { PricedModel, Prices } from "./prices.ts";
import type { RemoteWork } from "./wires/wire.ts";

interface Rules {
  /** Names that every agent may use. */
  hostedTools: readonly string[];
  prices: Prices;
}

/** Why the provider may not run or fetch the requested tools or files, in words for the guest; null if it may. */
export async function problemOf(
  { model, work, isOwn }: { model: PricedModel; work: readonly RemoteWork[]; isOwn: boolean },
  { hostedTools, prices }: Rules,
  caller: { mayReachAll(): Promise<boolean> },
): Promise<string | null> {
  const inQuestion = work.filter(({ name }) => !hostedTools.includes(name));
  const isPriced = ({ name, priced }: RemoteWork) =>
    priced && (name !== "web_search" || prices.hasPriceOfSearch(model));
  // The workspace pays its own provider, whatever the price.
  const unpriced = prices.allowUnpriced || isOwn ? undefined : inQuestion.find((each) => !isPriced(each));
  if (unpriced) {
    return `The price of ${unpriced.name}, which the model's provider runs, is unknown here. The operator can allow it (BERTH_HOSTED_TOOLS).`;
  }
  if (inQuestion.length === 0 || (await caller.mayReachAll())) return null;
  const names = inQuestion.map(({ name }) => name).join(", ");
  return `The model's provider would access the network for the agent (${names}), which the agent's egress rules do not allow. The operator can allow it (BERTH_HOSTED_TOOLS).`;
}
