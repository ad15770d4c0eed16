import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { requireNamed } from "../api/permissions.ts";
import {
  Agent,
  AgentList,
  AgentLog,
  AgentParams,
  ChangeAgent,
  CreateAgent,
  InstallStatus,
  ListQuery,
  type LogEvent,
  LogQuery,
  RestartQuery,
  WaitQuery,
} from "../contract/agents.ts";
import { type AgentState, toAgentView } from "../service/agent.ts";
import type { Agents } from "../service/agents.ts";
import { toInstallStatus } from "../service/lifecycle/provisioning.ts";
import { fromCursor, pageOf } from "./paging.ts";
import { type SseEvent, sendEvents } from "./sse.ts";
import type { Streams } from "./streams.ts";

const waitMs = 60_000;

declare module "fastify" {
  interface FastifyRequest {
    /** The agent that it is about, once that is known. */
    agent?: AgentState;
  }
}

/** Finds agents by their owners' names for them. */
type FindAgents = Pick<Agents, "find">;

/**
 * The caller's agent of that name. Throws `agent_not_found`, for another account's too, and `forbidden` for one that the
 * caller's key does not name.
 */
export async function findAgent(agents: FindAgents, request: FastifyRequest, name: string): Promise<AgentState> {
  const agent = await agents.find(request.caller.accountId, name);
  request.agent = agent;
  requireNamed(request.caller, agent);
  return agent;
}

export function agentRoutes(service: Agents, streams: Streams): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      "/agents",
      { schema: { summary: "List agents", querystring: ListQuery, response: { 200: AgentList } } },
      async (request) => {
        const { limit, cursor } = request.query;
        const after = fromCursor(cursor, /^[a-z][a-z0-9-]{2,29}$/);
        const { accountId, agentIds } = request.caller;
        const agents = await service.list(accountId, limit + 1, after, agentIds);
        return pageOf(agents.map(toAgentView), limit, ({ name }) => name);
      },
    );

    const createSchema = {
      summary: "Create an agent",
      body: CreateAgent,
      querystring: WaitQuery,
      response: { 201: Agent },
    };
    app.post("/agents", { schema: createSchema }, async (request, reply) => {
      const agent = await service.create(request.caller.accountId, request.body, request.attempt);
      request.agent = agent;
      reply.code(201).header("location", `/agents/${agent.name}`);
      return toAgentView(request.query.wait ? await service.settled(agent) : agent);
    });

    app.get(
      "/agents/:name",
      { schema: { summary: "Read an agent", params: AgentParams, response: { 200: Agent } } },
      async (request) => toAgentView(await findAgent(service, request, request.params.name)),
    );

    const changeSchema = {
      summary: "Change an agent's model or instructions",
      params: AgentParams,
      body: ChangeAgent,
      response: { 200: Agent },
    };
    app.patch("/agents/:name", { schema: changeSchema }, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      return toAgentView(await service.change(agent, request.body));
    });

    const restartSchema = {
      summary: "Boot an agent again from its disk",
      description: "Its files and its conversation stay; a running turn ends as failed. Also the way out of `failed`.",
      params: AgentParams,
      querystring: RestartQuery,
      response: { 200: Agent },
    };
    app.post("/agents/:name/restart", { schema: restartSchema }, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      const restarted = await service.restart(agent, { newMachine: request.query.machine === "new" });
      return toAgentView(request.query.wait ? await service.settled(restarted) : restarted);
    });

    const suspendSchema = {
      summary: "Suspend an agent",
      description:
        "Its memory is kept on its disk and its machine takes nothing meanwhile; its next message wakes it. Answered when that is done. Refused while it answers a message.",
      params: AgentParams,
      response: { 200: Agent },
    };
    app.post("/agents/:name/suspend", { schema: suspendSchema }, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      return toAgentView(await service.suspend(agent));
    });

    const resumeSchema = {
      summary: "Wake a suspended agent",
      description: "What its next message does by itself.",
      params: AgentParams,
      querystring: WaitQuery,
      response: { 200: Agent },
    };
    app.post("/agents/:name/resume", { schema: resumeSchema }, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      const resumed = await service.resume(agent);
      return toAgentView(request.query.wait ? await service.settled(resumed) : resumed);
    });

    const logSchema = {
      summary: "Read the output of an agent's runner and runtime",
      description:
        "Of an agent that does not run: as its machine left it. With `follow=true`, an event stream of LogEvent.",
      params: AgentParams,
      querystring: LogQuery,
      response: { 200: AgentLog },
    };
    app.get("/agents/:name/logs", { schema: logSchema }, async (request, reply) => {
      const agent = await findAgent(service, request, request.params.name);
      const { tail, follow } = request.query;
      if (follow === "true") {
        using _ = streams.enter(request);
        await sendEvents(reply, {}, (gone) => logEvents(service.log(agent, tail, true, gone)));
        return reply;
      }
      const lines: string[] = [];
      for await (const batch of service.log(agent, tail, false, AbortSignal.timeout(waitMs))) lines.push(...batch);
      return { lines };
    });

    const resetSchema = {
      summary: "Begin a new conversation; the files stay",
      params: AgentParams,
      response: { 200: Agent },
    };
    app.post("/agents/:name/conversation/reset", { schema: resetSchema }, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      return toAgentView(await service.resetConversation(agent));
    });

    const deleteSchema = { summary: "Delete an agent", params: AgentParams, response: { 204: z.null() } };
    app.delete("/agents/:name", { schema: deleteSchema }, async (request, reply) => {
      await service.delete(await findAgent(service, request, request.params.name));
      return reply.code(204).send(null);
    });

    const statusSchema = {
      summary: "Follow an agent's installation",
      params: AgentParams,
      response: { 200: InstallStatus },
    };
    app.get("/agents/:name/install-status", { schema: statusSchema }, async (request, reply) => {
      const agent = await findAgent(service, request, request.params.name);
      if (!request.headers.accept?.includes("text/event-stream")) return toInstallStatus(agent);
      using _ = streams.enter(request);
      await sendEvents(reply, {}, (gone) => installEvents(service.watchInstallation(agent, gone)));
      return reply;
    });
  };
}

async function* logEvents(batches: AsyncIterable<string[]>): AsyncGenerator<SseEvent[]> {
  const event = (data: LogEvent): SseEvent => ({ data });
  for await (const lines of batches) yield lines.map((line) => event({ line }));
  yield [event({ ended: true })];
}

/** The installation at each change. */
async function* installEvents(changes: AsyncIterable<InstallStatus>): AsyncGenerator<SseEvent[]> {
  for await (const data of changes) yield [{ data }];
}
