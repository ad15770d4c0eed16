import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteHandlerMethod } from "fastify";
import { z } from "zod";
import type { AnswerOf, Route, RouteDefinition } from "../api/route.ts";
import { routes } from "../api/routes.ts";
import { PostHeaders } from "../contract/idempotency.ts";
import { signInPrefix } from "../contract/sign-in.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route's row in the table; not there for the sign-in's own program. */
    route?: Route;
  }
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** A request for a route, with what its schemas have made of it. */
export type RequestOf<R extends RouteDefinition> = FastifyRequest<{
  Params: Output<R["params"]>;
  Querystring: Output<R["query"]>;
  Body: Output<R["body"]>;
}>;

/** What a handler may answer: what the route's schemas take, or the reply that it has sent itself. */
type HandlerAnswer<R extends RouteDefinition> = AnswerOf<R> | FastifyReply;

/**
 * Adds a route of the table to `app`. The handler answers with the first status of the route's responses where it sets
 * no other.
 */
export function handle<R extends Route>(
  app: FastifyInstance,
  route: R,
  handler: (request: RequestOf<R>, reply: FastifyReply) => Promise<HandlerAnswer<R>>,
): void {
  const status = Number(Object.keys(route.responses)[0] ?? 200);
  const answer = (request: FastifyRequest, reply: FastifyReply) =>
    handler(request as unknown as RequestOf<R>, reply.code(status));
  app.route({
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    schema: schemaOf(route),
    config: { route },
    handler: answer as RouteHandlerMethod,
  });
}

/**
 * Notes the routes that are added to `app` from here on. Throws, at once, for one that is not in the table. The answer
 * throws where a route of the table has no handler.
 */
export function matchTable(app: FastifyInstance): () => void {
  const handled = new Set<Route>();
  app.addHook("onRoute", ({ url, config }) => {
    if (config?.route) handled.add(config.route);
    // `*` is of CORS: the question before a call, for any path.
    else if (url !== "*" && !url.startsWith(`${signInPrefix}/`))
      throw new Error(`${url} is not in the table of routes`);
  });
  return () => {
    const left = Object.values<Route>(routes).filter((route) => !handled.has(route));
    if (left.length > 0) throw new Error(`nothing answers ${left.map(({ operation }) => operation).join(", ")}`);
  };
}

/** What Fastify checks and the OpenAPI document says. */
function schemaOf({ summary, description, params, query, body, responses, idempotent, permission, csv }: Route) {
  const schema: FastifySchema = summary === null ? { hide: true } : { summary };
  if (description !== undefined) schema.description = description;
  if (params) schema.params = params;
  if (query) schema.querystring = query;
  if (body) schema.body = body;
  if (idempotent) schema.headers = PostHeaders;
  if (permission !== "public") schema.security = [{ key: [] }];
  const answers = Object.entries(responses).map(([status, answer]) => [status, csv ? orCsv(answer) : answer]);
  if (answers.length > 0) schema.response = Object.fromEntries(answers);
  return schema;
}

/** An answer that may be asked for as CSV, too. */
function orCsv(schema: z.ZodType) {
  const csv = z.string().meta({ description: "A line of headings, then the rows." });
  return { content: { "application/json": { schema }, "text/csv": { schema: csv } } };
}
