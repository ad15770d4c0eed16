import { randomUUID } from "node:crypto";
import swagger from "@fastify/swagger";
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
} from "fastify-type-provider-zod";
import { BerthError } from "../contract/errors.ts";
import { permissions, requirePermission } from "../domain/permissions.ts";
import { type AgentService, agentRoutes } from "./agents.ts";
import { authenticate, type FindCaller } from "./authenticate.ts";
import { type CatalogService, catalogRoutes } from "./catalog.ts";
import { type ChatService, chatRoutes } from "./chat.ts";
import { errorBody, handleError } from "./errors.ts";
import { healthRoutes, type MetricsText, type Readiness } from "./health.ts";
import { type KeyService, keyRoutes } from "./keys.ts";

const maximumBodyBytes = 1024 * 1024;

export interface AppOptions {
  version: string;
  logger: FastifyBaseLogger;
  findCaller: FindCaller;
  readiness: () => Promise<Readiness>;
  metrics: MetricsText;
  service: AgentService & ChatService & CatalogService & KeyService;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route's name in the table of permissions; not there where it needs no credentials. */
    operation?: string;
  }
}

/** The HTTP interface. It listens when the caller says so. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: options.logger,
    genReqId: () => randomUUID(),
    // One line per request, below, in place of Fastify's two.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maximumBodyBytes,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 200 },
    // A client has half a minute for its request; what it waits for afterwards may take longer.
    requestTimeout: 30_000,
    frameworkErrors: handleError,
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(handleError);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, url, ip } = request;
    const { statusCode, elapsedTime } = reply;
    request.log.info({ method, url, ip, statusCode, ms: Math.round(elapsedTime) }, "request");
  });
  const methodsOf = rememberRoutes(app);
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsOf(request.url.split("?")[0]!);
    if (allowed.length > 0) reply.header("allow", allowed.join(", "));
    const error =
      allowed.length > 0
        ? new BerthError("method_not_allowed", `${request.method} is not allowed here; allowed: ${allowed.join(", ")}.`)
        : new BerthError("path_not_found", "There is no such path. GET /openapi.json lists them all.");
    return reply.status(error.status).send(errorBody(error));
  });

  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Berth", version: options.version, description: "Agents, each in a virtual machine of its own." },
      components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  await app.register(healthRoutes(options.readiness, options.metrics));
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
  await app.register(async (guarded) => {
    guarded.addHook("onRoute", (route) => {
      route.schema = { ...route.schema, security: [{ key: [] }] };
      route.config = { ...route.config, operation: operationOf(route) };
    });
    guarded.addHook("onRequest", async (request) => {
      request.caller = await authenticate(request, options.findCaller);
      requirePermission(request.routeOptions.config.operation!, request.caller);
    });
    await guarded.register(agentRoutes(options.service));
    await guarded.register(chatRoutes(options.service));
    await guarded.register(catalogRoutes(options.service));
    await guarded.register(keyRoutes(options.service));
  });
  return app;
}

/** What a route is called in the table of permissions. Throws where it has no row there. */
function operationOf({ method, url }: { method: string | string[]; url: string }): string {
  // Fastify answers HEAD wherever it answers GET.
  const operation = `${method === "HEAD" ? "GET" : method} ${url.replaceAll(/:([^/]+)/g, "{$1}")}`;
  if (!(operation in permissions)) throw new Error(`no permission says who may ${operation}`);
  return operation;
}

/** Notes each route as it is made; the answer tells which methods a path has. */
function rememberRoutes(app: FastifyInstance): (path: string) => string[] {
  const routes: { pattern: RegExp; method: string }[] = [];
  app.addHook("onRoute", ({ url, method }) => {
    const pattern = new RegExp(`^${url.replaceAll(/:[^/]+/g, "[^/]+")}$`);
    for (const each of [method].flat()) routes.push({ pattern, method: each });
  });
  return (path) => [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
}
