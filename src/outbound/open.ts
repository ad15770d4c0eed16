import type { AppContext } from "../context.ts";
import { resolveHere } from "../egress/names.ts";
import { ownAddresses } from "../egress/open.ts";
import { Policy } from "../egress/policy.ts";
import { Outbound } from "./outbound.ts";

/**
 * Calls to addresses that workspaces name. The operator's denied hosts are denied here, too. `inside`: the inner hosts that
 * the operator has listed for these calls.
 */
export function openOutbound({ config, address }: AppContext, inside: readonly string[]): Outbound {
  return new Outbound(
    new Policy({
      operator: { allow: ["*"], deny: config.egress.deny },
      inside,
      own: () => ownAddresses(config, address.listening),
      lookUp: resolveHere,
    }),
  );
}
