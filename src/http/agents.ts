import { randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import {
  Agent,
  AgentList,
  AgentName,
  AgentParams,
  CreateAgent,
  CreateAgentQuery,
  defaultResources,
  InstallStatus,
  ListQuery,
  type RuntimeName,
} from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { pendingSteps, type StoredAgent, toInstallStatus, toRecord } from "../domain/agents.ts";
import { type SseEvent, sendEvents } from "./sse.ts";

const waitMs = 60_000;

/** What the agents' routes need. */
export interface AgentService {
  /** Throws `agent_exists`. */
  create(agent: StoredAgent): Promise<void>;
  /** Throws what is missing for any agent to be made: `image_missing`, `qemu_missing`, …. */
  requireMachines(): Promise<void>;
  /** The runtimes that agents can be built on in this installation. */
  runtimes: readonly RuntimeName[];
  /** Throws `model_not_available`. */
  checkModel(model: string): void;
  byName(accountId: string, name: string): Promise<StoredAgent | null>;
  list(accountId: string, limit: number, after: string | null): Promise<StoredAgent[]>;
  watch(id: string, signal: AbortSignal): AsyncIterable<StoredAgent>;
  delete(agent: StoredAgent): Promise<void>;
}

/** The caller's agent of that name. Throws `agent_not_found`, for another account's too. */
export async function findAgent(
  service: Pick<AgentService, "byName">,
  request: FastifyRequest,
  name: string,
): Promise<StoredAgent> {
  const possible = AgentName.safeParse(name).success;
  const agent = possible ? await service.byName(request.caller.accountId, name) : null;
  if (!agent) throw new BerthError("agent_not_found", `There is no agent ${name.slice(0, 100)}.`);
  return agent;
}

export function agentRoutes(service: AgentService): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      "/agents",
      { schema: { summary: "List agents", querystring: ListQuery, response: { 200: AgentList } } },
      async (request) => {
        const { limit, cursor } = request.query;
        const after = cursor === undefined ? null : fromCursor(cursor);
        const agents = await service.list(request.caller.accountId, limit + 1, after);
        const page = agents.slice(0, limit);
        return { data: page.map(toRecord), nextCursor: agents.length > limit ? toCursor(page.at(-1)!.name) : null };
      },
    );

    const createSchema = {
      summary: "Create an agent",
      body: CreateAgent,
      querystring: CreateAgentQuery,
      response: { 201: Agent },
    };
    app.post("/agents", { schema: createSchema }, async (request, reply) => {
      const agent = newAgent(service, request.caller.accountId, request.body);
      await service.requireMachines();
      await service.create(agent);
      reply.code(201).header("location", `/agents/${agent.name}`);
      return toRecord(request.query.wait ? await settled(service, agent) : agent);
    });

    app.get(
      "/agents/:name",
      { schema: { summary: "Read an agent", params: AgentParams, response: { 200: Agent } } },
      async (request) => toRecord(await findAgent(service, request, request.params.name)),
    );

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
      await sendEvents(reply, {}, (gone) => installEvents(service, agent.id, gone));
      return reply;
    });
  };
}

function newAgent(service: AgentService, accountId: string, body: CreateAgent): StoredAgent {
  if (!service.runtimes.includes(body.runtime)) {
    const allowed = service.runtimes.join(", ");
    throw new BerthError(
      "runtime_not_available",
      `The runtime ${body.runtime} is not available yet. Available: ${allowed}.`,
    );
  }
  if (body.instructions) {
    throw new BerthError("feature_not_available", "instructions are not available yet: leave the field out or null.");
  }
  if (body.model) service.checkModel(body.model);
  const now = new Date();
  return {
    id: randomUUID(),
    accountId,
    name: body.name,
    runtime: body.runtime,
    model: body.model ?? null,
    instructions: null,
    resources: body.resources ?? defaultResources,
    status: "provisioning",
    generation: 1,
    error: null,
    installSteps: pendingSteps(),
    createdAt: now,
    lastActiveAt: now,
  };
}

/** The agent once it is no longer provisioning, or as it stands after a minute. */
async function settled(service: AgentService, agent: StoredAgent): Promise<StoredAgent> {
  let latest = agent;
  for await (const seen of service.watch(agent.id, AbortSignal.timeout(waitMs))) {
    latest = seen;
    if (seen.status !== "provisioning") break;
  }
  return latest;
}

/** The installation at each change; ends with it. */
async function* installEvents(service: AgentService, id: string, gone: AbortSignal): AsyncGenerator<SseEvent[]> {
  for await (const agent of service.watch(id, gone)) {
    const status = toInstallStatus(agent);
    yield [{ data: status }];
    if (status.status === "installed" || status.status === "failed" || agent.status === "deleting") return;
  }
}

function toCursor(name: string): string {
  return Buffer.from(name).toString("base64url");
}

function fromCursor(cursor: string): string {
  const name = Buffer.from(cursor, "base64url").toString("utf8");
  if (/^[a-z][a-z0-9-]{2,29}$/.test(name)) return name;
  throw new BerthError("request_invalid", "cursor: not one that a list has answered.");
}
