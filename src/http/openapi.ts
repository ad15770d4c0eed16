import swagger from "@fastify/swagger";
import fastify, { type FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import type { Route } from "../api/route.ts";
import { routes } from "../api/routes.ts";
import { handle } from "./handle.ts";

/** Makes `app.swagger()` return the OpenAPI document of the routes added to `app` afterwards. */
export async function describeRoutes(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Berth", version, description: "Agents, each in a virtual machine of its own." },
      components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
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
