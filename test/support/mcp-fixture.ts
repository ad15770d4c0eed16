import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { McpServer, type McpServerFactory } from "@modelcontextprotocol/server";
import fastify from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import { ServiceAddress } from "../../src/config/address.ts";
import type { AccountEvent } from "../../src/contract/account-events.ts";
import type { Caller } from "../../src/core/http/caller.ts";
import { mcpRoutes } from "../../src/protocols/mcp/routes.ts";
import { contextWith } from "./context.ts";
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
  const address = new ServiceAddress(null);
  const unlimited = { take: async () => null };
  const context = contextWith({
    address,
    config: { corsOrigins: [] },
    streams: { enter: () => ({ [Symbol.dispose]: () => {} }) },
    events: { read: noEvents },
    stores: { limiters: { requests: unlimited, account: unlimited } },
  });
  app.addHook("onRequest", async (request) => {
    request.caller = { accountId: "fixture", keyId: null } as Caller;
  });
  await app.register(mcpRoutes(context, factory));
  await app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  address.listensAt(url);
  return { url, [Symbol.asyncDispose]: () => app.close() };
}

/** The events of an account in which nothing happens. */
async function* noEvents(_viewer: unknown, _after: number | null, gone: AbortSignal): AsyncGenerator<AccountEvent[]> {
  yield [{ type: "events.opened", id: 0, at: new Date().toISOString() }];
  if (!gone.aborted) await once(gone, "abort");
}
