import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AgentName } from "../contract/agents.ts";
import type { Route } from "../contract/route.ts";
import type { Caller } from "../core/http/caller.ts";
import type { AuditEntryState } from "./audit.ts";
import type { AuditStore } from "./store.ts";

/** Names of parameters whose values are credentials. */
const secretParams: ReadonlySet<string> = new Set(["token"]);
/** In characters: paths of files may be longer. */
const longestResource = 200;

/** Writes the audit log. A fault is logged, and does not fail the request. */
export class AuditLog {
  readonly #rows: AuditStore;

  constructor(rows: AuditStore) {
    this.#rows = rows;
  }

  /**
   * Logs the requests of all routes added to `app` afterwards. The entry is written before the answer is sent, so a
   * crash at that moment loses no entry.
   */
  addTo(app: FastifyInstance): void {
    app.addHook("onSend", (request, reply) => this.log(request, reply));
  }

  /** Writes the entry of a request, if its row asks for one. */
  async log(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // Without a caller, there is no account to log it for.
    const caller: Caller | undefined = request.caller;
    const { route } = request.routeOptions.config;
    if (!caller || !route) return;
    await this.logOperation(request, route, {
      agent: request.agent?.name ?? askedName(request),
      agentId: request.agent?.id ?? null,
      resource: reply.statusCode < 400 ? resourceOf(request, reply) : null,
      status: reply.statusCode,
      code: request.errorCode ?? null,
    });
  }

  /** Writes the entry of an operation that was answered with `answered`, if its row asks for one. */
  async logOperation(
    { caller, ip, id, log }: Pick<FastifyRequest, "caller" | "ip" | "id" | "log">,
    route: Route,
    answered: Pick<AuditEntryState, "agent" | "agentId" | "resource" | "status" | "code">,
  ): Promise<void> {
    if (!isWritten(route, answered.status)) return;
    const { accountId, credential, keyId, personId } = caller;
    const { operation } = route;
    try {
      const who = { accountId, credential, keyId, personId };
      await this.#rows.write({ ...who, address: ip, operation, ...answered, requestId: id });
    } catch (error) {
      log.error({ err: error }, "an audit entry could not be written");
    }
  }
}

/**
 * Whether a request is logged: all that may change something, and all forbidden ones. Rate-limited requests change
 * nothing, and logging them would undermine the limit.
 */
function isWritten({ audited }: Route, status: number): boolean {
  return status !== 429 && (audited || status === 403);
}

/**
 * The last name or id in the path that is not the agent's, or that of what was created. To be called for successful requests: what is
 * not found may be a pasted secret.
 */
function resourceOf({ params, routeOptions }: FastifyRequest, reply: FastifyReply): string | null {
  const path = routeOptions.config.route!.path;
  const given = params as Readonly<Record<string, string | number>>;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const last = names.findLast((name) => !secretParams.has(name) && !(name === "name" && path.startsWith("/agents/")));
  const created = String(reply.getHeader("location") ?? "");
  const resource =
    last === undefined ? /^(?!\/agents\/[^/]+$).*\/([^/]+)$/.exec(created)?.[1] : (given[last] ?? given["*"]);
  return resource === undefined ? null : String(resource).slice(0, longestResource);
}

/** The agent's name in the path, if it is a valid name: anything else may be a pasted secret. */
function askedName({ params, routeOptions }: FastifyRequest): string | null {
  const { name } = params as { name?: string };
  if (!routeOptions.url?.startsWith("/agents/")) return null;
  return name !== undefined && AgentName.safeParse(name).success ? name : null;
}
