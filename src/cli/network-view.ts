import type { EgressPolicy } from "../contract/egress.ts";
import { formatFields } from "./table.ts";
import { writeJson } from "./terminal.ts";

/** Prints where an agent's programs may connect. */
export function showNetwork(network: EgressPolicy, json: true | undefined): void {
  if (json) writeJson(process.stdout, network);
  else process.stdout.write(networkText(network));
}

function networkText({ allow, deny, operator }: EgressPolicy): string {
  const rules = (list: readonly string[]) => (list.length === 0 ? "nothing" : list.join(", "));
  const fields = {
    allow: rules(allow),
    deny: rules(deny),
    "operator's allow": rules(operator.allow),
    "operator's deny": rules(operator.deny),
  };
  return formatFields(process.stdout, fields);
}
