import { randomUUID } from "node:crypto";
import type { TlsOptions } from "node:tls";
import cors from "@fastify/cors";
import helmet, { type FastifyHelmetOptions } from "@fastify/helmet";
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { serializerCompiler } from "fastify-type-provider-zod";
import type { z } from "zod";
import { keyRoutes } from "./accounts/key-routes.ts";
import { accountRoutes } from "./accounts/routes.ts";
import { ticketRoutes } from "./accounts/ticket-routes.ts";
import { userRoutes } from "./accounts/user-routes.ts";
import { machineRoutes } from "./agents/machine-routes.ts";
import { agentRoutes } from "./agents/routes.ts";
import { approvalRoutes } from "./approvals/routes.ts";
import { archiveRoutes } from "./archives/routes.ts";
import { auditRoutes } from "./audit/routes.ts";
import { hookRoutes } from "./automations/hook-routes.ts";
import { automationRoutes } from "./automations/routes.ts";
import { backupRoutes } from "./backup/routes.ts";
import { creditRoutes } from "./billing/credit-routes.ts";
import { paymentEventRoutes, topUpRoutes } from "./billing/payment-routes.ts";
import { billingRoutes } from "./billing/routes.ts";
import { commandRoutes } from "./commands/routes.ts";
import { terminalRoutes } from "./commands/terminal-routes.ts";
import type { AppContext } from "./context.ts";
import { BerthError } from "./contract/errors.ts";
import { routes } from "./contract/routes.ts";
import { signInPrefix } from "./contract/sign-in.ts";
import { InvalidValue, safeParseValue } from "./contract/validation.ts";
import { conversationRoutes } from "./conversations/routes.ts";
import { answerClientError, bodyFor, handleError } from "./core/http/errors.ts";
import { limitReads } from "./core/http/fair-share.ts";
import { FrontServer } from "./core/http/front-server.ts";
import { guard } from "./core/http/guard.ts";
import { handle, matchTable } from "./core/http/handle.ts";
import { readJsonBodies } from "./core/http/json-bodies.ts";
import { describeRoutes } from "./core/http/openapi.ts";
import { paceBodies, paceRefusals } from "./core/http/pacing.ts";
import { limit, limitAddress } from "./core/http/rate-limits.ts";
import { limitReceiving } from "./core/http/receiving.ts";
import { acceptSockets } from "./core/http/sockets.ts";
import { egressRoutes } from "./egress/routes.ts";
import { accountEventRoutes } from "./events/routes.ts";
import { fileRoutes } from "./files/routes.ts";
import { capacityRoutes } from "./hosts/capacity-routes.ts";
import { healthRoutes } from "./hosts/health-routes.ts";
import { orphanRoutes } from "./hosts/orphan-routes.ts";
import { tlsOptions } from "./https/secure-listener.ts";
import { inboxRoutes } from "./inbox/routes.ts";
import { catalogRoutes } from "./models/routes.ts";
import { profileRoutes, unsubscribeRoutes } from "./notifications/routes.ts";
import { portRoutes } from "./ports/routes.ts";
import { PreviewServer } from "./previews/preview-server.ts";
import { a2aRoutes } from "./protocols/a2a/routes.ts";
import { aguiRoutes } from "./protocols/agui/routes.ts";
import { mcpRoutes } from "./protocols/mcp/routes.ts";
import { chatCompletionRoutes } from "./protocols/openai/chat-completions.ts";
import { compactionRoutes } from "./protocols/openai/compact.ts";
import { openAiConversationRoutes } from "./protocols/openai/conversations.ts";
import { openAiFileRoutes } from "./protocols/openai/files.ts";
import { openAiModelRoutes } from "./protocols/openai/models.ts";
import { responseSocketRoutes } from "./protocols/openai/response-socket.ts";
import { responseRoutes } from "./protocols/openai/responses.ts";
import { providerRoutes } from "./providers/routes.ts";
import { pushRoutes } from "./push/routes.ts";
import { queueRoutes } from "./queue/routes.ts";
import { reachabilityRoutes } from "./reachability/routes.ts";
import { searchRoutes } from "./search/routes.ts";
import { secretLoginRoutes } from "./secrets/login-routes.ts";
import { secretRoutes } from "./secrets/routes.ts";
import { vaultRoutes } from "./secrets/vault-routes.ts";
import { dashboardRoutes } from "./sign-in/dashboard-routes.ts";
import { protectedResourceRoutes, providerMetadataRoutes, signInRoutes } from "./sign-in/routes.ts";
import { skillRoutes } from "./skills/routes.ts";
import { snapshotRoutes } from "./snapshots/routes.ts";
import { sshRoutes } from "./ssh/routes.ts";
import { logFormatOf } from "./telemetry/logger.ts";
import { chatRoutes, turnRoutes } from "./turns/routes.ts";
import { uploadRoutes } from "./uploads/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";
import { invitationRoutes, memberRoutes, workspaceRoutes } from "./workspaces/routes.ts";

const maximumBodyBytes = 1024 * 1024;
/** How long requests that are under way may take when the server ends. */
const drainMs = 2_000;

/** The address of a client that had gone before its request was looked at. */
const unknownAddress = "unknown";

/** The nouns' routes, then the protocols of other programs, which stand on them. */
const plugins = [
  healthRoutes,
  protectedResourceRoutes,
  paymentEventRoutes,
  hookRoutes,
  unsubscribeRoutes,
  signInRoutes,
  providerMetadataRoutes,
  dashboardRoutes,
  agentRoutes,
  approvalRoutes,
  automationRoutes,
  webhookRoutes,
  providerRoutes,
  conversationRoutes,
  searchRoutes,
  queueRoutes,
  snapshotRoutes,
  machineRoutes,
  chatRoutes,
  turnRoutes,
  uploadRoutes,
  commandRoutes,
  terminalRoutes,
  ticketRoutes,
  portRoutes,
  sshRoutes,
  fileRoutes,
  archiveRoutes,
  catalogRoutes,
  egressRoutes,
  secretRoutes,
  vaultRoutes,
  secretLoginRoutes,
  skillRoutes,
  keyRoutes,
  workspaceRoutes,
  pushRoutes,
  profileRoutes,
  inboxRoutes,
  memberRoutes,
  invitationRoutes,
  topUpRoutes,
  auditRoutes,
  accountRoutes,
  accountEventRoutes,
  userRoutes,
  billingRoutes,
  creditRoutes,
  capacityRoutes,
  reachabilityRoutes,
  backupRoutes,
  orphanRoutes,
  aguiRoutes,
  compactionRoutes,
  openAiFileRoutes,
  openAiConversationRoutes,
  responseRoutes,
  responseSocketRoutes,
  chatCompletionRoutes,
  openAiModelRoutes,
  mcpRoutes,
  a2aRoutes,
];

/** The HTTP API. The caller makes it listen. */
export async function openApp(context: AppContext): Promise<FastifyInstance> {
  const { config, logger, passing, audit, idempotency, requests, secure } = context;
  const previewServer = new PreviewServer(context);
  const front = new FrontServer(previewServer);
  const app = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    genReqId: () => randomUUID(),
    // One line per request (below) instead of Fastify's two.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maximumBodyBytes,
    forceCloseConnections: true,
    // Requests on open connections are still handled, or forwarded.
    return503OnClosing: passing === null,
    routerOptions: { maxParamLength: 200 },
    serverFactory: front.create,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    frameworkErrors: handleError,
    clientErrorHandler: answerClientError,
  });
  limitReceiving(app.server, (request) => previewServer.owns(request));
  const secureServer = secure && front.createSecure(config.https!.hstsSeconds, tlsOptionsOf(context));
  if (secureServer) {
    limitReceiving(secureServer, (request) => previewServer.owns(request));
    secureServer.on("clientError", answerClientError);
    secure.serveBy(secureServer);
  }
  app.addHook("preClose", async () => {
    app.server.close(); // Takes no new connections.
    secure?.close();
    await passing?.drain(drainMs);
    previewServer.close();
    secureServer?.closeAllConnections();
  });
  readJsonBodies(app);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.removeContentTypeParser("text/plain"); // Fastify's own: bodies are JSON.
  app.setErrorHandler(handleError);
  observeRequests(app, context);
  await app.register(helmet, securityHeaders);
  if (config.corsOrigins.length > 0) {
    const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
    await app.register(cors, { origin: [...config.corsOrigins], methods, exposedHeaders, maxAge: 600 });
  }
  const requireTable = matchTable(app);
  answerUnknown(app, context);
  await describeRoutes(app, context.version);
  await acceptSockets(app, front.upgrades, config.corsOrigins);
  paceRefusals(app);
  paceBodies(app);
  requests.begin(app);
  guard(app, context);
  // In this order, so that the audit log records the final response.
  idempotency.addTo(app);
  audit.addTo(app);
  requests.end(app);
  limitReads(app);
  limitMaking(app, context);
  handle(app, routes.getDocument, async (request, reply) => {
    await limitAddress(context, request, reply);
    return app.swagger();
  });
  for (const plugin of plugins) await app.register(plugin(context));
  requireTable();
  return app;
}

/** Of the HTTPS server. */
function tlsOptionsOf({ tlsAlpn }: AppContext): TlsOptions {
  return { ...tlsOptions, ...(tlsAlpn ? tlsAlpn.tlsOptions : { ALPNProtocols: ["http/1.1"] }) };
}

/** Gives each request an id and an address, and writes one line and one measurement for each answer. */
function observeRequests(app: FastifyInstance, { config, metrics }: AppContext): void {
  const level = logFormatOf(config) === "text" ? "debug" : "info";
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
    // Kept for the audit log: once its client has gone, a socket has no address any more.
    Object.defineProperty(request, "ip", { value: request.ip ?? unknownAddress, configurable: true });
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, ip, originalUrl } = request;
    const url = withoutSecrets(originalUrl);
    const { statusCode, elapsedTime } = reply;
    metrics.requestAnswered(statusCode);
    request.log[statusCode < 400 ? level : "info"](
      { method, url, ip, statusCode, ms: Math.round(elapsedTime) },
      "request",
    );
  });
}

/** Counts what is made. After validation and idempotency: invalid requests and replayed answers make nothing. */
function limitMaking(app: FastifyInstance, { stores }: AppContext): void {
  app.addHook("preHandler", async (request, reply) => {
    const made = request.routeOptions.config.route?.limit;
    if (!made) return;
    const { count = 1 } = (request.body ?? {}) as { count?: number };
    await limit(reply, stores.limiters[made], request.caller.accountId, count);
  });
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
  "x-berth-ignored-parameters",
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
function answerUnknown(app: FastifyInstance, context: AppContext): void {
  const methodsOf = rememberRoutes(app);
  app.setNotFoundHandler(async (request, reply) => {
    await limitAddress(context, request, reply);
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
