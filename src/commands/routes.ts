import type { FastifyPluginAsync } from "fastify";
import type { AgentState } from "../agents/agent.ts";
import type { Agents } from "../agents/agents.ts";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { maximumInputBytes, type NumberedCommandEvent } from "../contract/commands.ts";
import { BerthError } from "../contract/errors.ts";
import { routes } from "../contract/routes.ts";
import { begun } from "../core/http/begun.ts";
import { clientGone, goneOf } from "../core/http/gone.ts";
import { handle } from "../core/http/handle.ts";
import { lastEventId, type SseEvent, sendEvents, sendLastEvents } from "../core/http/sse.ts";
import { type Commands, resultOf } from "./commands.ts";

/**
 * `/agents/{name}/commands`: programs that an agent's owner runs in its machine. `begun` is called once a command with a
 * streamed response has started.
 */
export function commandRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, commands, streams } = context;
  return async (app) => {
    handle(app, routes.runCommand, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      const { attempt, body, caller } = request;
      const id = attempt.resourceId;
      using _ = body.detach ? null : streams.enter(request);
      const record = await commands.start(id, agent, body, caller);
      reply.header("x-command-id", id);
      if (body.detach) return reply.code(201).send(record);
      const read = (gone: AbortSignal) => commands.events(agent.id, id, { after: 0, keepAwake: true }, gone);
      if (request.headers.accept?.includes("text/event-stream")) {
        await begun(context, request, reply);
        await sendEvents(reply, {}, (gone) => toSse(read(gone)));
        return reply;
      }
      const gone = goneOf(reply);
      const result = await resultOf(id, read(gone));
      if (result) return result;
      if (gone.aborted) throw clientGone();
      throw new BerthError("machine_failed", "The command's output broke off.");
    });

    handle(app, routes.listCommands, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return { data: await commands.list(agent, request.caller), nextCursor: null };
    });

    handle(app, routes.getCommand, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return commands.find(agent, request.params.commandId, request.caller);
    });

    handle(app, routes.getCommandEvents, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      const id = request.params.commandId;
      using _ = streams.enter(request);
      // Wakes the machine, and reports an unknown command before the stream begins.
      const { status } = await commands.find(agent, id, request.caller);
      const after = lastEventId(request) ?? request.query.after;
      const send = status === "exited" ? sendLastEvents : sendEvents;
      await send(reply, {}, (gone) => toSse(commands.events(agent.id, id, { after, keepAwake: false }, gone)));
      return reply;
    });

    handle(app, routes.signalCommand, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      await commands.signal(agent, request.params.commandId, request.body.signal, request.caller);
      return null;
    });

    await app.register(inputRoutes(agents, commands));
  };
}

/** Bodies of bytes, of any type. */
function inputRoutes(agents: Agents, commands: Commands): FastifyPluginAsync {
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer" }, (_, body, done) => done(null, body));

    handle(app, routes.writeCommandInput, async (request) => {
      const agent: AgentState = await findAgent(agents, request, request.params.name);
      const data = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
      if (data.length > maximumInputBytes)
        throw new BerthError(
          "body_too_large",
          "Command input is limited to 512 KiB per request; split it into several.",
        );
      const input = { inputId: request.attempt.resourceId, data, end: request.query.end === "true" };
      await commands.input(agent, request.params.commandId, input, request.caller);
      return null;
    });
  };
}

async function* toSse(batches: AsyncIterable<NumberedCommandEvent[]>): AsyncGenerator<SseEvent[]> {
  for await (const batch of batches) yield batch.map(({ seq, event }) => ({ id: seq, data: event }));
}
