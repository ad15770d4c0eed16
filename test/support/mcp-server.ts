import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

/** A server of a tool `echo`, which says what it was given, and what it was reached with. */
export function echoServer(reachedWith: string): McpServer {
  const server = new McpServer({ name: "echo", version: "1" });
  server.registerTool(
    "echo",
    { description: "Says it again.", inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({
      content: [{ type: "text", text: `${text}, with ${reachedWith}` }],
    }),
  );
  return server;
}

/** That server over streamable HTTP, on a loopback address that is not this host's usual one. */
export class HttpMcpServer implements Disposable {
  /** The values of `authorization` that requests came with. */
  readonly credentials = new Set<string | undefined>();
  readonly #server = createServer(async (request, response) => {
    this.credentials.add(request.headers.authorization);
    const server = echoServer("the web");
    const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await server.connect(transport);
    await transport.handleRequest(request, response);
  });

  static async start(): Promise<HttpMcpServer> {
    const server = new HttpMcpServer();
    server.#server.listen(0, "127.0.0.2");
    await once(server.#server, "listening");
    return server;
  }

  /** `HOST:PORT`. Programs in a machine reach it by their proxy only. */
  get authority(): string {
    return `127.0.0.2:${(this.#server.address() as AddressInfo).port}`;
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
