import { randomUUID } from "node:crypto";
import cors from "@fastify/cors";
import helmet, { type FastifyHelmetOptions } from "@fastify/helmet";
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import { serializerCompiler } from "fastify-type-provider-zod";
import type { z } from "zod";
import { keyRoutes } from "./accounts/key-routes.ts";
import type { Keys } from "./accounts/keys.ts";
import type { Principals } from "./accounts/principals.ts";
import type { Programs } from "./accounts/programs.ts";
import { accountRoutes } from "./accounts/routes.ts";
import { ticketRoutes } from "./accounts/ticket-routes.ts";
import type { Tickets } from "./accounts/tickets.ts";
import { userRoutes } from "./accounts/user-routes.ts";
import type { Users } from "./accounts/users.ts";
import type { Agents } from "./agents/agents.ts";
import { machineRoutes } from "./agents/machine-routes.ts";
import { agentRoutes } from "./agents/routes.ts";
import { routes } from "./api/routes.ts";
import type { Exports } from "./archives/exports.ts";
import type { Imports } from "./archives/imports.ts";
import { archiveRoutes } from "./archives/routes.ts";
import { type AuditRows, audit, auditRoutes, writeEntry } from "./audit/routes.ts";
import type { Backups } from "./backup/backups.ts";
import { backupRoutes } from "./backup/routes.ts";
import type { Billing } from "./billing/billing.ts";
import { creditRoutes } from "./billing/credit-routes.ts";
import { paymentEventRoutes, topUpRoutes } from "./billing/payment-routes.ts";
import { billingRoutes } from "./billing/routes.ts";
import type { Commands } from "./commands/commands.ts";
import { commandRoutes } from "./commands/routes.ts";
import { terminalRoutes } from "./commands/terminal-routes.ts";
import type { Capacity } from "./contract/capacity.ts";
import { BerthError } from "./contract/errors.ts";
import type { Readiness } from "./contract/health.ts";
import { type ProtectedResource, signInPrefix } from "./contract/sign-in.ts";
import { InvalidValue, safeParseValue } from "./contract/validation.ts";
import type { IdempotencyRows } from "./core/http/attempt.ts";
import { answerClientError, bodyFor, handleError } from "./core/http/errors.ts";
import { limitReads } from "./core/http/fair-share.ts";
import { FrontServer } from "./core/http/front-server.ts";
import { countRequest, guard, type LimitAddress } from "./core/http/guard.ts";
import { handle, matchTable } from "./core/http/handle.ts";
import { Idempotency } from "./core/http/idempotency.ts";
import { readJsonBodies } from "./core/http/json-bodies.ts";
import { describeRoutes } from "./core/http/openapi.ts";
import { clientOf, limit, type RateLimiters } from "./core/http/rate-limits.ts";
import { limitReceiving } from "./core/http/receiving.ts";
import { acceptSockets, type SocketParts } from "./core/http/sockets.ts";
import type { Streams } from "./core/http/streams.ts";
import type { AgentEgress } from "./egress/agent-egress.ts";
import { egressRoutes } from "./egress/routes.ts";
import type { AccountEvents } from "./events/account-events.ts";
import { accountEventRoutes } from "./events/routes.ts";
import type { Files } from "./files/files.ts";
import { fileRoutes } from "./files/routes.ts";
import { capacityRoutes } from "./hosts/capacity-routes.ts";
import { healthRoutes, type MetricsText } from "./hosts/health-routes.ts";
import { orphanRoutes } from "./hosts/orphan-routes.ts";
import type { Orphans } from "./hosts/orphans.ts";
import type { Passing } from "./hosts/passing/passing.ts";
import type { ModelChoice } from "./models/choice.ts";
import { catalogRoutes } from "./models/routes.ts";
import type { Ports } from "./ports/ports.ts";
import { portRoutes } from "./ports/routes.ts";
import type { PreviewHosts } from "./previews/hosts.ts";
import { PreviewServer } from "./previews/preview-server.ts";
import type { Previews } from "./previews/previews.ts";
import type { Shares } from "./previews/shares.ts";
import { a2aRoutes } from "./protocols/a2a/routes.ts";
import { aguiRoutes } from "./protocols/agui/routes.ts";
import { CarriedOperations, type Carrier } from "./protocols/carried-operations.ts";
import { mcpRoutes } from "./protocols/mcp/routes.ts";
import { mcpHandler, mcpServers } from "./protocols/mcp/server.ts";
import { chatCompletionRoutes } from "./protocols/openai/chat-completions.ts";
import { openAiModelRoutes } from "./protocols/openai/models.ts";
import { responseSocketRoutes } from "./protocols/openai/response-socket.ts";
import { responseRoutes } from "./protocols/openai/responses.ts";
import type { Responses } from "./protocols/openai/stored-responses.ts";
import { secretRoutes } from "./secrets/routes.ts";
import type { Secrets } from "./secrets/secrets.ts";
import { dashboardRoutes } from "./sign-in/dashboard-routes.ts";
import type { DashboardSessions } from "./sign-in/dashboard-sessions.ts";
import { type HandleSignIn, protectedResourceRoutes, providerMetadataRoutes, signInRoutes } from "./sign-in/routes.ts";
import type { Forks } from "./snapshots/forks.ts";
import { snapshotRoutes } from "./snapshots/routes.ts";
import type { Snapshots } from "./snapshots/snapshots.ts";
import { sshRoutes } from "./ssh/routes.ts";
import type { Ssh } from "./ssh/ssh.ts";
import type { Tracer } from "./telemetry/span.ts";
import { chatRoutes, turnRoutes } from "./turns/routes.ts";
import type { Turns } from "./turns/turns.ts";

const maximumBodyBytes = 1024 * 1024;
/** How long requests that are under way may take when the server ends. */
const drainMs = 2_000;

export interface AppOptions {
  version: string;
  logger: FastifyBaseLogger;
  /** The level at which requests are logged that were answered without an error. */
  requestLevel: "debug" | "info";
  agents: Agents;
  turns: Turns;
  responses: Responses;
  events: AccountEvents;
  secrets: Secrets;
  commands: Commands;
  tickets: Tickets;
  egress: AgentEgress;
  files: Files;
  ports: Ports;
  ssh: Ssh;
  shares: Shares;
  snapshots: Snapshots;
  forks: Forks;
  exports: Exports;
  imports: Imports;
  previews: Previews;
  previewHosts: PreviewHosts;
  models: ModelChoice;
  keys: Keys;
  programs: Programs;
  users: Users;
  billing: Billing;
  principals: Principals;
  auditLog: AuditRows;
  /** Where to get tokens. */
  protectedResource: (path: "" | "/mcp") => ProtectedResource;
  /** The built-in identity provider; null if another is configured. */
  signIn: { handle: HandleSignIn } | null;
  capacity: () => Capacity;
  backups: Backups;
  orphans: Orphans;
  readiness: () => Promise<Readiness>;
  metrics: MetricsText;
  /** Called with the status of each request that is answered. */
  answered: (status: number) => void;
  /** Null: requests are not traced. */
  tracer: Tracer | null;
  limiters: RateLimiters;
  /** The origins whose web pages may call the API. */
  corsOrigins: readonly string[];
  /** Addresses and networks of the proxies that are trusted to report a client's address. */
  trustedProxies: readonly string[];
  idempotencyKeys: IdempotencyRows;
  dashboardSessions: DashboardSessions;
  /** The folder of the built dashboard. */
  dashboardFolder: string;
  /** Null: this server does all itself. */
  passing: Passing | null;
  /** The event streams that are open. */
  streams: Streams;
  /** Without a trailing slash. */
  publicUrl: () => string;
}

/** The address of a client that had gone before its request was looked at. */
const unknownAddress = "unknown";

/** The HTTP API. The caller makes it listen. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { previewHosts: hosts, previews, ports, limiters, logger, passing } = options;
  const previewServer = new PreviewServer({ hosts, previews, ports, limiter: limiters.address, logger, passing });
  const front = new FrontServer(previewServer);
  const app = fastify({
    loggerInstance: options.logger,
    genReqId: () => randomUUID(),
    // One line per request (below) instead of Fastify's two.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maximumBodyBytes,
    forceCloseConnections: true,
    // What still comes on open connections is done, or passed on.
    return503OnClosing: passing === null,
    routerOptions: { maxParamLength: 200 },
    serverFactory: front.create,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    frameworkErrors: handleError,
    clientErrorHandler: answerClientError,
  });
  limitReceiving(app.server, (request) => previewServer.owns(request));
  app.addHook("preClose", async () => {
    app.server.close(); // Takes no new connections.
    await passing?.drain(drainMs);
    previewServer.close();
  });
  readJsonBodies(app);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.removeContentTypeParser("text/plain"); // Fastify's own: bodies are JSON.
  app.setErrorHandler(handleError);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
    // Kept for the audit log: once its client has gone, a socket has no address any more.
    Object.defineProperty(request, "ip", { value: request.ip ?? unknownAddress, configurable: true });
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, ip, originalUrl } = request;
    const url = withoutSecrets(originalUrl);
    const { statusCode, elapsedTime } = reply;
    options.answered(statusCode);
    const level = statusCode < 400 ? options.requestLevel : "info";
    request.log[level]({ method, url, ip, statusCode, ms: Math.round(elapsedTime) }, "request");
  });
  await app.register(helmet, securityHeaders);
  if (options.corsOrigins.length > 0) {
    const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
    await app.register(cors, { origin: [...options.corsOrigins], methods, exposedHeaders, maxAge: 600 });
  }
  const limitAddress = (request: FastifyRequest, reply: FastifyReply) =>
    limit(reply, limiters.address, clientOf(request.ip));
  const requireTable = matchTable(app);
  answerUnknown(app, limitAddress);
  await describeRoutes(app, options.version);
  await acceptSockets(app, front.upgrades, options.corsOrigins);
  guard(app, options, limitAddress);
  const idempotency = new Idempotency(options.idempotencyKeys, options.streams);
  // In this order, so that the audit log records the final response.
  idempotency.addTo(app);
  audit(app, options.auditLog);
  limitReads(app);
  // After validation and idempotency: invalid requests and replayed answers create nothing.
  app.addHook("preHandler", async (request, reply) => {
    const made = request.routeOptions.config.route?.limit;
    if (!made) return;
    const { count = 1 } = (request.body ?? {}) as { count?: number };
    await limit(reply, limiters[made], request.caller.accountId, count);
  });
  await addRoutes(app, options, idempotency, limitAddress);
  requireTable();
  return app;
}

async function addRoutes(
  app: FastifyInstance,
  options: AppOptions,
  idempotency: Idempotency,
  limitAddress: LimitAddress,
): Promise<void> {
  const { agents, turns, billing, principals, auditLog, signIn, streams } = options;
  await app.register(healthRoutes(options.readiness, options.metrics));
  await app.register(protectedResourceRoutes(options.protectedResource));
  await app.register(paymentEventRoutes(billing, limitAddress));
  const answerSignIn: HandleSignIn | null = signIn && ((...request) => signIn.handle(...request));
  if (answerSignIn) await app.register(signInRoutes(answerSignIn, limitAddress));
  await app.register(providerMetadataRoutes(answerSignIn, limitAddress));
  const { dashboardFolder: folder, dashboardSessions: sessions, publicUrl } = options;
  await app.register(dashboardRoutes({ folder, sessions, publicUrl, limitAddress }));
  handle(app, routes.getDocument, async (request, reply) => {
    await limitAddress(request, reply);
    return app.swagger();
  });
  const begun = async (request: FastifyRequest, reply: FastifyReply) => {
    await idempotency.streams(request);
    await writeEntry(auditLog, request, reply);
  };
  await app.register(agentRoutes(agents, options.forks));
  await app.register(snapshotRoutes(agents, options.snapshots));
  await app.register(machineRoutes(agents, streams));
  await app.register(chatRoutes(agents, turns, streams, begun));
  await app.register(turnRoutes(agents, turns, streams));
  await app.register(commandRoutes(agents, options.commands, streams, begun));
  await app.register(terminalRoutes(agents, options.commands, { streams, begun }));
  await app.register(ticketRoutes(agents, options.tickets, options.previewHosts));
  await app.register(portRoutes(agents, options.ports, options.shares, options.previewHosts, { streams, begun }));
  await app.register(sshRoutes(agents, options.ssh, { streams, begun }));
  await app.register(fileRoutes(agents, options.files, streams));
  const { exports, imports } = options;
  await app.register(archiveRoutes({ agents, exports, imports, streams }));
  await app.register(catalogRoutes(options.models));
  await app.register(egressRoutes(agents, options.egress));
  await app.register(secretRoutes(agents, options.secrets));
  await app.register(keyRoutes(options.keys));
  await app.register(topUpRoutes(billing));
  await app.register(auditRoutes(auditLog));
  await app.register(accountRoutes(principals, options.programs));
  await app.register(accountEventRoutes(options.events, streams));
  await app.register(userRoutes(options.users));
  await app.register(billingRoutes(billing));
  await app.register(creditRoutes(billing));
  await app.register(capacityRoutes(options.capacity));
  await app.register(backupRoutes(options.backups));
  await app.register(orphanRoutes(options.orphans, agents));
  await addWires(app, options, { streams, begun });
}

/** Protocols of other programs, each over the operations above. */
async function addWires(app: FastifyInstance, options: AppOptions, sockets: SocketParts): Promise<void> {
  const { version, agents, turns, responses, auditLog, limiters, corsOrigins, publicUrl, passing, protectedResource } =
    options;
  const { streams, begun } = sockets;
  await app.register(aguiRoutes(agents, turns, streams, begun));
  const operations = new CarriedOperations({ agents, auditLog, limiters });
  const count = (request: FastifyRequest, reply: FastifyReply) => countRequest(request, reply, limiters);
  const openAi = { agents, turns, responses, auditLog, ...sockets };
  await app.register(responseRoutes(openAi));
  const countFrame = ({ request, reply }: Carrier) => count(request, reply);
  await app.register(responseSocketRoutes(openAi, sockets, { operations, count: countFrame, passing }));
  await app.register(chatCompletionRoutes(openAi));
  await app.register(openAiModelRoutes(agents));
  const servers = mcpServers({ ...options, operations });
  const handler = mcpHandler(servers, (error) => app.log.debug({ err: error }, "an MCP request was refused"));
  await app.register(mcpRoutes({ handler, streams, count, corsOrigins, publicUrl }));
  const facts = () => ({ version, publicUrl: publicUrl(), issuer: protectedResource("").authorization_servers[0]! });
  await app.register(a2aRoutes({ agents, turns, operations, streams, facts }));
}

/** Checks a part of a request against the schema of its route. */
function validatorCompiler({ schema }: { schema: z.ZodType }) {
  return (data: unknown) => {
    const parsed = safeParseValue(schema, data);
    return parsed.success ? { value: parsed.data } : { error: new InvalidValue(parsed.issues) };
  };
}

/** Responses are data, never pages: they may load nothing, and nothing may frame them. */
const securityHeaders: FastifyHelmetOptions = {
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  xFrameOptions: { action: "deny" },
  // Left to the proxy that terminates TLS.
  strictTransportSecurity: false,
};

/** Response headers that pages of other origins may read. */
const exposedHeaders = [
  "x-request-id",
  "x-turn-id",
  "x-command-id",
  "location",
  "etag",
  "content-range",
  "content-disposition",
  "retry-after",
  "ratelimit",
  "ratelimit-policy",
  "idempotent-replayed",
];

/**
 * Hides secrets in a URL: sign-in codes, one-time links and tickets in the query, ids of sign-ins in the path, and keys that
 * somebody has mistaken for an id.
 */
function withoutSecrets(url: string): string {
  const whole = url.startsWith(signInPrefix) || /[?&](ticket|code)=/.test(url) ? url.split("?")[0]! : url;
  return whole.replaceAll(/[\w-]{40,}/g, "…");
}

/** Answers unknown routes: 405 with the allowed methods for a known path, otherwise 404. */
function answerUnknown(app: FastifyInstance, limitAddress: LimitAddress): void {
  const methodsOf = rememberRoutes(app);
  app.setNotFoundHandler(async (request, reply) => {
    await limitAddress(request, reply);
    const allowed = methodsOf(request.url.split("?")[0]!);
    // A file that is not there has the path of those that are.
    const isMethod = allowed.length > 0 && !allowed.includes(request.method);
    if (isMethod) reply.header("allow", allowed.join(", "));
    const error = isMethod
      ? new BerthError("method_not_allowed", `${request.method} is not allowed here; allowed: ${allowed.join(", ")}.`)
      : new BerthError("path_not_found", "There is no such path. GET /openapi.json lists them all.");
    return reply.status(error.status).send(bodyFor(request, error));
  });
}

/** Records each route that is added. The returned function lists a path's methods. */
function rememberRoutes(app: FastifyInstance): (path: string) => string[] {
  const known: { pattern: RegExp; method: string }[] = [];
  app.addHook("onRoute", ({ url, method }) => {
    if (url === "*") return; // CORS preflight requests.
    const pattern = new RegExp(`^${url.replaceAll("*", ".*").replaceAll(/:[^/]+/g, "[^/]+")}$`);
    for (const each of [method].flat()) known.push({ pattern, method: each });
  });
  return (path) => [...new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
}
