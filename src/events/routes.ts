import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import type { AccountEvent } from "../contract/account-events.ts";
import { routes } from "../contract/routes.ts";
import { allows } from "../contract/workspaces.ts";
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
      const { accountId, role } = request.caller;
      const isShown = allows(role, "use") ? () => true : isForViewers;
      await sendEvents(reply, {}, (gone) => toSse(events.read(accountId, after, gone), isShown));
      return reply;
    });
  };
}

async function* toSse(
  batches: AsyncIterable<AccountEvent[]>,
  isShown: (event: AccountEvent) => boolean,
): AsyncGenerator<SseEvent[]> {
  for await (const batch of batches) yield batch.filter(isShown).map(sseOf);
}

/** Viewers see agents and turns. */
function isForViewers({ type }: AccountEvent): boolean {
  return /^(events|agent|turn)\./.test(type);
}

/** The balance is at the place of the event before it, which readers know already. */
function sseOf(data: AccountEvent): SseEvent {
  return data.type === "credits.changed" ? { data } : { id: data.id, data };
}
