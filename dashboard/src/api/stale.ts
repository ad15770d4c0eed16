import type { AccountEvent } from "@berth/client";
import type { QueryKey } from "@tanstack/react-query";

/** First parts of the keys of queries that read the whole account and have events. */
const ofAccount: readonly unknown[] = [
  "approvals",
  "automations",
  "billing",
  "inbox",
  "invitations",
  "keys",
  "me",
  "members",
  "models",
  "providers",
  "recent turns",
  "secrets",
  "skills",
  "webhooks",
];

/** Whether an event has changed the data of a query. The keys are in `queries.ts`. */
export function makesStale(event: AccountEvent, [first, agent, what]: QueryKey): boolean {
  const isOfAgents = first === "agents" && agent === undefined;
  switch (event.type) {
    case "agent.created":
    case "agent.changed":
    case "agent.deleted":
      return (
        isOfAgents || (first === "agents" && agent === event.agent && (what === undefined || what === "conversations"))
      );
    case "conversation.created":
    case "conversation.changed":
    case "conversation.deleted":
      return first === "agents" && agent === event.agent && what === "conversations";
    case "turn.started":
    case "turn.ended":
      return (
        isOfAgents ||
        first === "recent turns" ||
        first === "approvals" ||
        (first === "agents" && agent === event.agent && (what === undefined || what === "conversations"))
      );
    case "approval.requested":
    case "approval.answered":
      return first === "approvals" || first === "recent turns";
    case "queue.changed":
      return isOfAgents || (first === "agents" && agent === event.agent && (what === undefined || what === "queue"));
    case "host.refused":
      return first === "agents" && agent === event.agent && what === "connections";
    case "credits.changed":
      return first === "billing";
    case "run.completed":
    case "run.failed":
    case "automation.paused":
      return first === "automations";
    case "provider.created":
    case "provider.changed":
    case "provider.deleted":
    case "provider.login_started":
    case "provider.login_connected":
    case "provider.login_failed":
      return first === "providers" || first === "models";
    case "webhook.disabled":
      return first === "webhooks";
    case "secret.created":
    case "secret.changed":
    case "secret.deleted":
    case "secret.login_connected":
    case "secret.login_failed":
      return first === "secrets" || (first === "agents" && what === "secrets");
    case "skill.created":
    case "skill.changed":
    case "skill.deleted":
      return first === "skills";
    case "key.created":
    case "key.revoked":
      return first === "keys";
    case "member.joined":
    case "member.changed":
    case "member.removed":
      return first === "members" || first === "me";
    case "invitation.created":
    case "invitation.accepted":
    case "invitation.revoked":
      return first === "invitations";
    case "inbox.changed":
      return first === "inbox";
    case "workspace.renamed":
      return first === "me";
    default:
      // Events may be missing. Turns have streams of their own; files have no events.
      return ofAccount.includes(first) || (first === "agents" && what !== "turns" && what !== "files");
  }
}
