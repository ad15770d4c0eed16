import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { routes } from "../../contract/routes.ts";
import { workspaceHeader } from "../../contract/workspaces.ts";
import type { Passing } from "../../hosts/passing/passing.ts";
import type { Passport } from "../../hosts/passing/passport.ts";
import { authenticate } from "./authenticate.ts";
import { requirePermission } from "./authorize.ts";
import { type Caller, countedAs } from "./caller.ts";
import { FairStarts } from "./fair-share.ts";
import { limit, limitAddress } from "./rate-limits.ts";
import { traceRequests } from "./tracing.ts";

/** Requires the permission of each route added to `app` afterwards, and forwards requests to the host's leader. */
export function guard(app: FastifyInstance, context: AppContext): void {
  const { principals, tickets, passing, tracer } = context;
  const starts = new FairStarts();
  app.addHook("onRequest", async (request, reply) => {
    const { route } = request.routeOptions.config;
    if (!route || route.permission === "public") return;
    const passport = passing?.admit(request, reply);
    if (passport?.caller) return takeOver(request, passport, passport.caller);
    const workspace = workspaceOf(request);
    const find = (credential: string) => principals.find(credential, route.audience, workspace);
    try {
      request.caller = await starts.admit(request, reply, () => authenticate(request, find, tickets));
    } catch (error) {
      if (!(error instanceof BerthError) || !isGuess(error)) throw error;
      if (route.audience === "mcp" && error.status === 401)
        reply.header("www-authenticate", challengeOf(context.address.public, request));
      await limitAddress(context, request, reply);
      throw error;
    }
    await countRequest(context, request, reply);
    requirePermission(route, request.caller);
  });
  if (tracer) traceRequests(app, tracer);
  if (passing) passOn(app, passing);
}

/** Whether a request without a caller counts against the limit of its address. */
function isGuess({ status, code }: BerthError): boolean {
  return status === 401 || code === "workspace_not_found";
}

/** The workspace that the path or the header `berth-workspace` names; null if neither does. */
function workspaceOf({ headers, params, routeOptions }: FastifyRequest): string | null {
  if (routeOptions.url?.startsWith("/workspaces/:name")) return (params as { name: string }).name;
  const named = headers[workspaceHeader];
  if (named === undefined || named === "") return null;
  try {
    return decodeURIComponent(String(named));
  } catch {
    throw new BerthError("request_invalid", `${workspaceHeader}: the name must be percent-encoded UTF-8.`);
  }
}

/** The forwarding server has authenticated and counted the request, and checked its permission. */
function takeOver(request: FastifyRequest, { address, ticket }: Passport, caller: Caller): void {
  request.caller = caller;
  if (ticket) request.ticket = ticket;
  Object.defineProperty(request, "ip", { value: address });
}

/** Forwards each request to the server that leads its agent's host. */
function passOn(app: FastifyInstance, passing: Passing): void {
  const passIf = (parsed: boolean) => async (request: FastifyRequest, reply: FastifyReply) => {
    // Without a caller the route is public, or the request was refused.
    if (request.caller && (await passing.pass(request, reply, parsed))) return reply;
    return undefined;
  };
  app.addHook("onRequest", passIf(false));
  app.addHook("preValidation", passIf(true));
}

/** Points an MCP client to the issuer of tokens (RFC 9728, 5.1). */
function challengeOf(publicUrl: string, { headers }: FastifyRequest): string {
  const wrong = headers.authorization === undefined ? "" : 'error="invalid_token", ';
  return `Bearer ${wrong}resource_metadata="${publicUrl}${routes.getMcpResource.path}"`;
}

/** Counts a request against the limits of its key and its account. */
export async function countRequest(
  { stores }: AppContext,
  { caller }: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { limiters } = stores;
  await limit(reply, limiters.requests, countedAs(caller));
  await limit(reply, limiters.account, caller.accountId);
}
