import type { FastifyReply, FastifyRequest } from "fastify";
import type { Agents } from "../../agents/agents.ts";
import type { AuditRows } from "../../audit/routes.ts";
import type { Streams } from "../../core/http/streams.ts";
import type { Turns } from "../../turns/turns.ts";
import type { BegunResponse, Responses } from "./stored-responses.ts";

/** What the handlers of OpenAI's APIs work with. */
export interface OpenAiParts {
  agents: Agents;
  turns: Turns;
  responses: Responses;
  streams: Streams;
  auditLog: Pick<AuditRows, "write">;
  /** Called for each request once its turn exists, before a stream begins. */
  begun: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

/** A response with its turn and its agent's name. */
export interface ResponsePlace extends BegunResponse {
  model: string;
}
