import type { AccountEvent } from "@berth/client";
import { type Command, InvalidArgumentError } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface EventsOptions extends CommonOptions {
  after?: number;
}

/** `berth events` */
export function register(program: Command): void {
  program
    .command("events")
    .description("print what happens in the account until Ctrl-C")
    .option("--after <id>", "go on after the event of that id; events are kept for seven days", eventId)
    .addOption(jsonOption())
    .action(async ({ after, json }: EventsOptions) => {
      for await (const event of connect(readEnvironment()).events({ after })) {
        if (json) writeJson(process.stdout, event);
        else show(event);
      }
    });
}

function eventId(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("The id of an event is a whole number.");
}

function show(event: AccountEvent): void {
  switch (event.type) {
    case "events.opened":
      note("Following what happens in the account. Ctrl-C ends it.");
      break;
    case "events.dropped":
      note("Some of these events are no longer kept. Those from now on follow.");
      break;
    default:
      console.log([localTime(event.at), event.type, ...detailsOf(event)].map(printable).join("  "));
  }
}

/** What the line of an event says beside its time and type. */
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
    default:
      return []; // Of a newer service.
  }
}

function reasonOf({ error }: { error: { message: string } | null }): string[] {
  return error ? [error.message] : [];
}
