import { type AccountEvent, type AuditEntry, authorText } from "@berth/client";
import { InvalidArgumentError, Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { limitOption } from "../options.ts";
import { printable } from "../terminal.ts";
import { localTime, pastTime } from "../time.ts";
import { note } from "../verbosity.ts";
import { type ConnectionsOptions, connectionColumns, verdictOption } from "./agents-network.ts";

interface AuditOptions {
  agent?: string;
  outcome?: "done" | "refused";
  search?: string;
  since?: string;
  limit: number;
}

/** `berth audit`, `connections` and `events`: the account's history. */
export function register(program: ToolCommand): void {
  const outcomes = new Option("--outcome <outcome>", "only successful requests, or only refused ones");
  program
    .add("audit", "show who changed what and what was refused, newest last")
    .option("-a, --agent <name>", "only entries about this agent")
    .addOption(outcomes.choices(["done", "refused"]))
    .option(
      "-s, --search <text>",
      "only entries with this text in their operation, agent, resource, author, address or code",
    )
    .option("--since <time>", "only entries since: hours (12h) or days (90d) ago, or a time (2030-01-31)", pastTime)
    .addOption(limitOption(50))
    .addOption(new Option("--csv", "print all of them as CSV, the newest first").conflicts("json"))
    .after(
      "BY is the person, the key, or the kind of credential if neither is known. --json and --csv have all fields, the newest first.",
    )
    .lists({
      list: ({ limit, agent, outcome, search, since }: AuditOptions) =>
        connect().audit({ agent, outcome, search, since }).take(limit),
      csv: ({ agent, outcome, search, since }) =>
        connect().connection.request("listAuditEntries", { query: { format: "csv", agent, outcome, search, since } }),
      empty: "No entries yet.",
      newestFirst: true,
      older: "There are older entries: --limit shows more, --csv all.",
      columns: {
        TIME: ({ at }) => localTime(at),
        BY: ({ createdBy, credential }) => (createdBy ? printable(authorText(createdBy)) : (credential ?? "sign-in")),
        ADDRESS: "address",
        OPERATION: "operation",
        AGENT: "agent",
        RESOURCE: ({ resource }) => printable(resource ?? ""),
        OUTCOME: outcomeCell,
      },
    });
  program
    .add("connections", "show the connections of all agents, newest last")
    .addOption(limitOption(50))
    .addOption(verdictOption())
    .lists({
      list: ({ limit, verdict }: ConnectionsOptions) => connect().connections({ verdict }).take(limit),
      empty: "No agent has made a connection yet.",
      newestFirst: true,
      older: "There are older connections: --limit shows more.",
      columns: { AGENT: "agent", ...connectionColumns },
    });
  program
    .add("events", "print the account's events until Ctrl-C")
    .option("--after <id>", "continue after the event with this id; events are kept for seven days", eventId)
    .streams(({ after }: { after?: number }) => connect().events({ after }), showEvent);
}

function outcomeCell({ status, code }: AuditEntry) {
  const text = code === null ? `${status}` : `${status} ${code}`;
  return { text, style: status < 400 ? "green" : "red" } as const;
}

function eventId(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("An event's id must be a whole number.");
}

function showEvent(event: AccountEvent): void {
  if (event.type === "events.opened") note("Following the account's events. Ctrl-C stops.");
  else if (event.type === "events.dropped") note("Some of these events have expired. Later events follow.");
  else console.log([localTime(event.at), event.type, ...detailsOf(event)].map(printable).join("  "));
}

/** The rest of an event's line, after its time and type. */
function detailsOf(event: AccountEvent): string[] {
  switch (event.type) {
    case "agent.created":
    case "agent.changed":
      return [event.agent, event.status, ...reasonOf(event)];
    case "agent.deleted":
      return [event.agent];
    case "turn.started":
      return [event.agent, event.turnId, event.message];
    case "turn.ended":
      return [event.agent, event.turnId, event.status, ...reasonOf(event)];
    case "credits.changed":
      return [event.balance];
    case "host.refused":
      return [event.agent, event.port === null ? event.host : `${event.host}:${event.port}`, event.reason];
    case "key.created":
    case "key.revoked":
      return [event.keyId, event.kind, event.name ?? ""];
    case "member.joined":
    case "member.changed":
    case "member.removed":
      return [event.name, event.role];
    case "invitation.created":
    case "invitation.accepted":
    case "invitation.revoked":
      return [event.invitationId, event.role, event.email ?? ""];
    case "workspace.renamed":
      return [event.name];
    default:
      return []; // Of a newer service.
  }
}

function reasonOf({ error }: { error: { message: string } | null }): string[] {
  return error ? [error.message] : [];
}
