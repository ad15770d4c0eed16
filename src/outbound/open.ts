import type { AppContext } from "../context.ts";
import { resolveHere } from "../egress/names.ts";
import { ownAddresses } from "../egress/open.ts";
import { Policy } from "../egress/policy.ts";
import { Outbound } from "./outbound.ts";

/** Calls to addresses that workspaces name. The operator's denied hosts are denied here, too. */
export function openOutbound({ config, address }: AppContext): Outbound {
  return new Outbound(
    new Policy({
      operator: { allow: ["*"], deny: config.egress.deny },
      inside: config.webhooksInside,
      own: () => ownAddresses(config, address.listening),
      lookUp: resolveHere,
    }),
  );
}
