import type { AddressInfo } from "node:net";
import { McpServer, type McpServerFactory } from "@modelcontextprotocol/server";
import fastify from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import { mcpRoutes } from "../../src/protocols/mcp/routes.ts";
import { mcpHandler } from "../../src/protocols/mcp/server.ts";
import { addFixtures } from "./mcp-fixtures.ts";

/** A server that answers `/mcp` by the service's own handler, with the fixtures that the conformance suite calls. */
export async function startMcpFixture(): Promise<AsyncDisposable & { url: string }> {
  const factory: McpServerFactory = () => {
    const server = new McpServer({ name: "fixture", version: "1" }, { capabilities: { logging: {} } });
    addFixtures(server);
    return server;
  };
  const app = fastify();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  const streams = { enter: () => ({ [Symbol.dispose]: () => {} }) };
  let url = "";
  const handler = mcpHandler(factory, () => {});
  await app.register(mcpRoutes({ handler, streams, count: async () => {}, corsOrigins: [], publicUrl: () => url }));
  await app.listen({ port: 0, host: "127.0.0.1" });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return { url, [Symbol.asyncDispose]: () => app.close() };
}
