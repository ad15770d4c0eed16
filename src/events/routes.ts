import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import type { AccountEvent } from "../contract/account-events.ts";
import { routes } from "../contract/routes.ts";
import { allows, type Need } from "../contract/workspaces.ts";
import type { Caller } from "../core/http/caller.ts";
import { handle } from "../core/http/handle.ts";
import { lastEventId, type SseEvent, sendEvents } from "../core/http/sse.ts";

/** `GET /events` */
export function accountEventRoutes(context: AppContext): FastifyPluginAsync {
  const { events, streams } = context;
  return async (app) => {
    handle(app, routes.getEvents, async (request, reply) => {
      using _ = streams.enter(request);
      const after = lastEventId(request) ?? request.query.after ?? null;
      if (after !== null) await events.requireKnown(after);
      const { caller } = request;
      await sendEvents(reply, {}, (gone) => toSse(events.read(caller, after, gone), caller));
      return reply;
    });
  };
}

/** The permission for the events of each noun: that for its list. */
const needs: Record<AccountEvent["type"] extends `${infer Noun}.${string}` ? Noun : never, Need> = {
  events: "read",
  agent: "read",
  turn: "read",
  queue: "read",
  conversation: "read",
  approval: "read",
  automation: "read",
  run: "read",
  snapshot: "read",
  webhook: "manage",
  provider: "read",
  member: "read",
  workspace: "read",
  inbox: "read",
  command: "use",
  credits: "use",
  host: "use",
  key: "use",
  secret: "use",
  skill: "use",
  invitation: "manage",
};

/** Ends after a change of the caller's own role: the stream that resumes it shows what the new role sees. */
async function* toSse(batches: AsyncIterable<AccountEvent[]>, { personId, role }: Caller): AsyncGenerator<SseEvent[]> {
  const isShown = ({ type }: AccountEvent) =>
    allows(role, needs[type.slice(0, type.indexOf(".")) as keyof typeof needs]);
  for await (const batch of batches) {
    const end = batch.findIndex((event) => event.type === "member.changed" && event.personId === personId);
    const seen = end === -1 ? batch : batch.slice(0, end + 1);
    yield seen.filter(isShown).map(sseOf);
    if (end !== -1) return;
  }
}

/** The balance is at the place of the event before it, which readers know already. */
function sseOf(data: AccountEvent): SseEvent {
  return data.type === "credits.changed" ? { data } : { id: data.id, data };
}
