import type { InboxItem } from "@berth/client";

export const kindWords: Readonly<Record<InboxItem["kind"], string>> = {
  asks: "Asks you",
  failed: "Failed",
  done: "Done",
  costs: "Costs",
  blocked: "Blocked",
};

/** An item in a sentence without its agent, which is above it. */
export function titleOf({ type, automation, host, port, count, provider, secret }: InboxItem): string {
  const times = count > 1 ? `, ${count} times` : "";
  switch (type) {
    case "turn.waiting":
      return "Asks for your approval";
    case "turn.held":
      return "Messages are held";
    case "turn.completed":
      return "Answered";
    case "turn.failed":
      return "A turn failed";
    case "run.completed":
      return `The automation ${automation} ran${times}`;
    case "run.failed":
      return `The automation ${automation} failed${times}`;
    case "automation.paused":
      return `The automation ${automation} has paused`;
    case "agent.failed":
      return "The agent has failed";
    case "network.refused":
      return host === "*" ? `Many hosts were blocked${times}` : `${addressOf(host, port)} was blocked${times}`;
    case "credits.low":
      return "Credits are low";
    case "credits.exhausted":
      return "There are no credits left";
    case "webhook.disabled":
      return "A webhook was disabled";
    case "provider.login_failed":
      return `The login of the provider ${provider} failed`;
    case "secret.login_failed":
      return `The sign-in of the secret ${secret} failed`;
    default:
      return type;
  }
}

function addressOf(host: string | null, port: number | null): string {
  return port === null ? `${host}` : `${host}:${port}`;
}
