import type { NetworkLogEntry } from "@berth/client";

/** Why a connection was refused. */
export const refusalWords: Readonly<Record<NonNullable<NetworkLogEntry["reason"]>, string>> = {
  destination_invalid: "no valid host",
  inside: "private address",
  port_refused: "port 25, for mail",
  denied_by_operator: "refused by the operator",
  not_allowed_by_operator: "not allowed by the operator",
  denied: "on the refused list",
  not_allowed: "not in the allowed hosts",
  asked: "waits for your answer",
  too_many: "too many connections",
};
