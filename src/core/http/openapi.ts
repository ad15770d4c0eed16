import swagger from "@fastify/swagger";
import fastify, { type FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import type { Route } from "../../contract/route.ts";
import { routes } from "../../contract/routes.ts";
import { webhookEvents } from "../../contract/webhook-events.ts";
import { handle } from "./handle.ts";

const byOperationId = new Map<string, Route>(Object.entries(routes));
const operationIds = new Map<Route, string>(Object.entries<Route>(routes).map(([name, route]) => [route, name]));

const bytes = { content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } } };

const file = { type: "string", format: "binary" };
const form = {
  content: {
    "multipart/form-data": {
      schema: {
        type: "object",
        properties: { file, purpose: { type: "string" }, "expires_after[seconds]": { type: "string" } },
        required: ["file", "purpose"],
      },
    },
  },
};

const license = { name: "Apache-2.0", identifier: "Apache-2.0" };

/** Makes `app.swagger()` return the OpenAPI document of the routes added to `app` afterwards. */
export async function describeRoutes(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Berth", version, description: "Agents, each in a virtual machine of its own.", license },
      // The address that has served the document.
      servers: [{ url: "/" }],
      components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
    },
    transform: (described) => {
      const { schema, url } = jsonSchemaTransform(described);
      const { route } = described.route.config ?? {};
      const operationId = route && operationIds.get(route);
      const body = route?.takesBytes ? { body: route.takesForm ? form : bytes } : {};
      // The generator has no parameter for the rest of a path.
      const path = route?.rest ? route.path : url;
      return { url: path, schema: { ...schema, ...body, ...(operationId ? { operationId } : {}) } };
    },
    transformObject: (input) => tidied(jsonSchemaTransformObject(input)),
  });
}

/** The OpenAPI document of the whole table, as served, but without a server. */
export async function openApiDocument(version: string): Promise<unknown> {
  const app = fastify();
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  await describeRoutes(app, version);
  for (const route of Object.values<Route>(routes)) handle(app, route, async () => null);
  await app.ready();
  return app.swagger();
}

interface Document {
  paths?: Record<string, Record<string, { operationId?: string; responses?: object }>>;
  components?: { schemas?: Record<string, unknown> };
}

const reference = /"#\/components\/schemas\/(\w+)"/g;

/** The content of an operation's error responses, by the shape that its route names. */
function refusalOf(errors: Route["errors"]) {
  const own = { $ref: "#/components/schemas/Error" };
  const schema = errors === "openai" ? openAiError : errors === "json-rpc" ? { anyOf: [own, jsonRpcError] } : own;
  return { "application/json": { schema } };
}

/** https://platform.openai.com/docs/guides/error-codes */
const openAiError = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["message", "type", "param", "code"],
      properties: {
        message: { type: "string" },
        type: { type: "string" },
        param: { type: ["string", "null"], description: "The field at fault; null: none." },
        code: { type: "string" },
      },
    },
  },
};

/** https://www.jsonrpc.org/specification#error_object */
const jsonRpcError = {
  type: "object",
  required: ["jsonrpc", "error"],
  properties: {
    jsonrpc: { const: "2.0" },
    id: { type: ["string", "number", "null"] },
    error: {
      type: "object",
      required: ["code", "message"],
      properties: { code: { type: "integer" }, message: { type: "string" }, data: {} },
    },
  },
};

/**
 * Adds errors to the responses, and the schemas that the document refers to. The generator writes each schema twice:
 * for responses, and with the suffix `Input` for requests. Few need both.
 */
function tidied<Given>(given: Given): Given {
  const document = given as Document;
  const webhooks = describedWebhooks();
  for (const operation of Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods))) {
    const { errors } = byOperationId.get(operation.operationId!)!;
    const content = refusalOf(errors);
    const refused = { description: "The request was refused.", content };
    operation.responses = { ...operation.responses, "4XX": refused, default: { description: "It failed.", content } };
  }
  const { schemas = {} } = document.components ?? {};
  const used = reachable([document.paths, webhooks], schemas);
  const plainName = (name: string) => {
    const base = name.replace(/Input$/, "");
    return used.has(base) && differ(schemas, base) ? name : base;
  };
  const plain = <Value>(value: Value): Value =>
    JSON.parse(
      JSON.stringify(value).replaceAll(reference, (_, name: string) => `"#/components/schemas/${plainName(name)}"`),
    );
  const kept = [...used].toSorted().map((name) => [plainName(name), plain(schemas[name])]);
  return {
    ...given,
    paths: plain(document.paths),
    webhooks,
    components: { ...document.components, schemas: Object.fromEntries(kept) },
  };
}

/** The requests that receivers of webhooks get, by type of event. */
function describedWebhooks(): Record<string, unknown> {
  const described = Object.entries(webhookEvents).map(([type, schema]) => {
    const { id, description } = schema.meta()!;
    const content = { "application/json": { schema: { $ref: `#/components/schemas/${id}` } } };
    const responses = { "2XX": { description: "The event was received." } };
    // Of `turn.completed`: `postTurnCompleted`.
    const operationId = `post.${type}`.replaceAll(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const requestBody = { required: true, content };
    const operation = { operationId, summary: description, security: [], requestBody, responses };
    return [type, { post: operation }];
  });
  return Object.fromEntries(described);
}

/** Whether a schema has another form in requests than in responses. */
function differ(schemas: Record<string, unknown>, name: string): boolean {
  const [answered, sent] = [schemas[name], schemas[`${name}Input`]].map((schema) =>
    JSON.stringify(schema)?.replaceAll(/Input"/g, '"'),
  );
  return answered !== undefined && sent !== undefined && answered !== sent;
}

/** The names of schemas that something refers to, directly or through others. */
function reachable(from: unknown, schemas: Record<string, unknown>): Set<string> {
  const found = new Set<string>();
  const visit = (value: unknown) => {
    for (const [, name] of JSON.stringify(value).matchAll(reference)) {
      if (found.has(name!)) continue;
      found.add(name!);
      visit(schemas[name!] ?? null);
    }
  };
  visit(from);
  return found;
}
