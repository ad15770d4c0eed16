import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import type { InstallStatus, LogEvent } from "../contract/agents.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { hasSeenEnd, type SseEvent, sendEvents } from "../core/http/sse.ts";
import { toInstallStatus } from "../lifecycle/provisioning.ts";
import { findAgent } from "./find.ts";

const waitMs = 60_000;

export function machineRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, streams } = context;
  return async (app) => {
    handle(app, routes.restartAgent, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const restarted = await agents.restart(agent, request.query.machine === "new", request.attempt);
      return agents.view(request.query.wait ? await agents.settled(restarted) : restarted, request.caller);
    });

    handle(app, routes.suspendAgent, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return agents.view(await agents.suspend(agent), request.caller);
    });

    handle(app, routes.resumeAgent, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const resumed = await agents.resume(agent);
      return agents.view(request.query.wait ? await agents.settled(resumed) : resumed, request.caller);
    });

    handle(app, routes.getLog, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      const { tail, follow } = request.query;
      if (follow === "true") {
        if (hasSeenEnd(request) && agent.status !== "ready") return reply.code(204).send(null);
        using _ = streams.enter(request);
        await sendEvents(reply, {}, (gone) => logEvents(agents.log(agent, tail, true, gone)));
        return reply;
      }
      const lines: string[] = [];
      for await (const batch of agents.log(agent, tail, false, AbortSignal.timeout(waitMs))) lines.push(...batch);
      return { lines };
    });

    handle(app, routes.getInstallStatus, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      if (!request.headers.accept?.includes("text/event-stream")) return toInstallStatus(agent);
      if (hasSeenEnd(request) && isOver(toInstallStatus(agent))) return reply.code(204).send(null);
      using _ = streams.enter(request);
      await sendEvents(reply, {}, (gone) => installEvents(agents.watchInstallation(agent, gone)));
      return reply;
    });
  };
}

/** The id of the last event, with which an `EventSource` comes back. */
const end = { id: 1, isEnd: true };

async function* logEvents(batches: AsyncIterable<string[]>): AsyncGenerator<SseEvent[]> {
  const event = (data: LogEvent): SseEvent => ({ data });
  for await (const lines of batches) yield lines.map((line) => event({ line }));
  yield [{ ...event({ ended: true }), ...end }];
}

async function* installEvents(changes: AsyncIterable<InstallStatus>): AsyncGenerator<SseEvent[]> {
  for await (const data of changes) yield [{ data, ...(isOver(data) ? end : {}) }];
}

function isOver({ status }: InstallStatus): boolean {
  return status === "installed" || status === "failed";
}
