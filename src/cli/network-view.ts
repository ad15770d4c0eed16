import type { Network } from "@berth/client";
import { formatFields } from "./table.ts";
import { writeJson } from "./terminal.ts";

/** Prints where an agent's programs may connect. */
export function showNetwork(network: Network, json: true | undefined): void {
  if (json) writeJson(process.stdout, network);
  else process.stdout.write(networkText(network));
}

function networkText({ allow, deny, operator }: Network): string {
  const rules = (list: readonly string[]) => (list.length === 0 ? "nothing" : list.join(", "));
  const fields = {
    allow: rules(allow),
    deny: rules(deny),
    "operator's allow": rules(operator.allow),
    "operator's deny": rules(operator.deny),
  };
  return formatFields(process.stdout, fields);
}
