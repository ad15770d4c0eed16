import type { FastifyReply, FastifyRequest } from "fastify";
import type { AgentState } from "../agents/agent.ts";
import { holdAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { asBerthError } from "../contract/errors.ts";
import type { Route } from "../contract/route.ts";
import { requireNamed, requirePermission } from "../core/http/authorize.ts";
import { limit } from "../core/http/rate-limits.ts";

/** A request that carries operations, and its reply. */
export interface Carrier {
  request: FastifyRequest;
  reply: FastifyReply;
}

/**
 * Operations of the table of routes that arrive within a request of another protocol. Each has the permission, the
 * limit and the audit entry of its own row, as if it were called directly.
 */
export class CarriedOperations {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /**
   * Runs `work` as the operation of this row. Throws `forbidden`, `rate_limited` and the errors of `work`, always as a
   * `BerthError`.
   */
  async perform<Result>(
    route: Route,
    { request, reply }: Carrier,
    work: (operation: CarriedOperation) => Promise<Result>,
  ): Promise<Result> {
    const { stores } = this.#context;
    const operation = new CarriedOperation(route, request, this.#context);
    try {
      requirePermission(route, request.caller);
      if (route.limit) await limit(reply, stores.limiters[route.limit], request.caller.accountId);
      const result = await work(operation);
      await operation.log(200, null);
      return result;
    } catch (thrown) {
      const error = asBerthError(thrown, "internal", "An internal error occurred.");
      if (error.status >= 500) request.log.error({ err: thrown, cause: error.cause }, "a carried operation failed");
      await operation.log(error.status, error.code);
      throw error;
    }
  }
}

/** A running operation. */
export class CarriedOperation {
  readonly #route: Route;
  readonly #request: FastifyRequest;
  readonly #context: AppContext;
  #agent: AgentState | null = null;
  #logged = false;

  constructor(route: Route, request: FastifyRequest, context: AppContext) {
    this.#route = route;
    this.#request = request;
    this.#context = context;
  }

  /** As `findAgent`, for an operation that may occur several times in a request. */
  async findAgent(name: string): Promise<AgentState> {
    const { caller } = this.#request;
    this.#agent = await this.#context.agents.find(caller, name, this.#route);
    holdAgent(this.#request, this.#agent);
    requireNamed(caller, this.#agent);
    return this.#agent;
  }

  /** Names the agent for the audit entry: one that was found before, or that the operation has created. */
  isAbout(agent: AgentState): void {
    this.#agent = agent;
  }

  /** Writes the audit entry now: started work continues, whether or not a client waits for it. */
  begun(): Promise<void> {
    return this.log(200, null);
  }

  /** Writes the audit entry, once. */
  async log(status: number, code: string | null): Promise<void> {
    if (this.#logged) return;
    this.#logged = true;
    const agent = this.#agent?.name ?? null;
    await this.#context.audit.logOperation(this.#request, this.#route, {
      agent,
      agentId: this.#agent?.id ?? null,
      resource: null,
      status,
      code,
    });
  }
}
