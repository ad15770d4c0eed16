import type { EgressOutcome, EgressRefusal } from "../contract/egress.ts";

/** The response to the program in the guest. `word` is for programs, `text` for people. */
export interface Answer {
  status: number;
  word: string;
  text: string;
}

const refusals: Record<EgressRefusal, string> = {
  destination_invalid: "it is not a valid host and port",
  inside: "it is not on the internet but in the network of this installation, or a special address",
  port_refused: "port 25 is for mail servers",
  denied_by_operator: "the installation's operator denies it",
  not_allowed_by_operator: "the installation's operator does not allow it",
  denied: "the agent's own rules deny it",
  not_allowed: "the agent's own rules do not allow it",
  asked: "it is on none of the agent's lists. A person is asked to allow it. Try again later",
  too_many: "the agent has too many connections, or has opened too many within a minute",
};

/** The response to a refusal; `asked` is the requested destination. */
export function refused(reason: EgressRefusal, asked: string): Answer {
  const status = reason === "too_many" ? 429 : reason === "destination_invalid" ? 400 : 403;
  return { status, word: reason, text: `Berth refused the connection to ${asked}: ${refusals[reason]}.` };
}

/** The response when a connection could not be made. */
export function failed(outcome: "unresolved" | "unreachable" | "timeout", asked: string): Answer {
  const texts = {
    unresolved: `${asked} has no address.`,
    unreachable: `${asked} cannot be reached.`,
    timeout: `${asked} does not respond.`,
  } satisfies Partial<Record<EgressOutcome, string>>;
  return { status: outcome === "timeout" ? 504 : 502, word: outcome, text: texts[outcome] };
}

/** The response when the rules cannot be read because the database is unavailable. */
export const unknown: Answer = {
  status: 503,
  word: "policy_unavailable",
  text: "Berth cannot read the agent's rules at the moment. Try again.",
};
