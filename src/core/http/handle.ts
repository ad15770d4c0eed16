import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteHandlerMethod } from "fastify";
import { z } from "zod";
import { BerthError } from "../../contract/errors.ts";
import { PostHeaders } from "../../contract/idempotency.ts";
import type { AnswerOf, Route, RouteDefinition } from "../../contract/route.ts";
import { routes } from "../../contract/routes.ts";
import { signInPrefix } from "../../contract/sign-in.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    route?: Route;
  }
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** A request for a route, as parsed by its schemas. */
export type RequestOf<R extends RouteDefinition> = FastifyRequest<{
  Params: Output<R["params"]>;
  Querystring: Output<R["query"]>;
  Body: Output<R["body"]>;
}>;

/** A value for the route's schemas, or the reply that the handler has sent itself. */
type HandlerAnswer<R extends RouteDefinition> = AnswerOf<R> | FastifyReply;

/**
 * Adds a route of the table to `app`. Unless the handler sets another status, the first of the route's responses is
 * used.
 */
export function handle<R extends Route>(
  app: FastifyInstance,
  route: R,
  handler: (request: RequestOf<R>, reply: FastifyReply) => Promise<HandlerAnswer<R>>,
): void {
  const status = Number(Object.keys(route.responses)[0] ?? 200);
  const answer = (request: FastifyRequest, reply: FastifyReply) =>
    handler(request as unknown as RequestOf<R>, reply.code(status));
  app.route({ ...optionsOf(route), handler: answer as RouteHandlerMethod });
}

/** Fastify's options of a route, without its handler. */
export function optionsOf(route: Route) {
  const rest = route.rest ? /\{(\w+)\}$/.exec(route.path)![1]! : null;
  const path = rest === null ? route.path : route.path.replace(`{${rest}}`, "*");
  return {
    method: route.method,
    url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    schema: schemaOf(route),
    config: { route },
    ...(route.maximumBytes === undefined ? {} : { bodyLimit: route.maximumBytes }),
    ...(rest === null ? {} : { preValidation: async (request: FastifyRequest) => nameRest(request, rest) }),
  };
}

/**
 * Sets the parameter for the rest of the path, decoded once from the raw address: the router treats encoded slashes and
 * percent signs differently. Throws `request_invalid`.
 */
function nameRest(request: FastifyRequest, name: string): void {
  const params = request.params as Record<string, string>;
  const { "*": _, ...others } = params;
  const before = request.routeOptions.url!.split("/").length - 1;
  const rest = request.raw.url!.split(/[?#]/)[0]!.split("/").slice(before).join("/");
  try {
    request.params = { ...others, [name]: decodeURIComponent(rest) };
  } catch {
    throw new BerthError("request_invalid", `${name}: the percent signs do not encode UTF-8.`);
  }
}

/**
 * Checks the routes added to `app` afterwards, and throws for one that is not in the table. The returned function
 * throws if a route of the table has no handler.
 */
export function matchTable(app: FastifyInstance): () => void {
  const handled = new Set<Route>();
  app.addHook("onRoute", ({ url, config }) => {
    if (config?.route) handled.add(config.route);
    else if (url !== "*" && !url.startsWith(`${signInPrefix}/`))
      throw new Error(`${url} is not in the table of routes`);
  });
  return () => {
    const left = Object.values<Route>(routes).filter((route) => !handled.has(route));
    if (left.length > 0) throw new Error(`nothing answers ${left.map(({ operation }) => operation).join(", ")}`);
  };
}

/** The schema that Fastify validates and that the OpenAPI document contains. */
function schemaOf(route: Route) {
  const { summary, description, params, query, headers, body, idempotent, permission } = route;
  const schema: FastifySchema = summary === null ? { hide: true } : { summary };
  if (description !== undefined) schema.description = description;
  if (params) schema.params = params;
  if (query) schema.querystring = query;
  if (body) schema.body = body;
  if (idempotent) schema.headers = PostHeaders.extend(headers?.shape ?? {});
  schema.security = permission === "public" ? [] : [{ key: [] }];
  const answers = responsesOf(route);
  if (Object.keys(answers).length > 0) schema.response = answers;
  return schema;
}

/** Statuses of responses that have no content (RFC 9110, 15). 202: its work is not done yet. */
const withoutContent = new Set(["202", "204", "304"]);

/** By status and, if there is a choice or a stream, by content type. */
function responsesOf({ responses, stream, csv, givesBytes }: Route) {
  const bytes = z.string().meta({ format: "binary", description: "The bytes, of their own content type." });
  const others = {
    ...Object.fromEntries((givesBytes ?? []).map((type) => [type, { schema: bytes }])),
    ...(csv ? { "text/csv": { schema: z.string().meta({ description: "A line of headings, then the rows." }) } } : {}),
    ...(stream ? { "text/event-stream": { schema: stream } } : {}),
  };
  if (Object.keys(others).length === 0) return responses;
  const described: [string, z.ZodType | null][] = Object.entries(responses);
  const answers = described.length > 0 ? described : ([["200", null]] as const);
  return Object.fromEntries(
    answers.map(([status, schema]) => {
      if (withoutContent.has(status)) return [status, z.null()];
      const isJson = schema !== null && !(schema instanceof z.ZodNull);
      return [status, { content: { ...(isJson ? { "application/json": { schema } } : {}), ...others } }];
    }),
  );
}
