import type { Duplex } from "node:stream";
import type { FastifyPluginAsync } from "fastify";
import type { RawData, WebSocket } from "ws";
import { routes } from "../api/routes.ts";
import { BerthError } from "../contract/errors.ts";
import type { Agents } from "../service/agents.ts";
import type { Ports } from "../service/ports.ts";
import { previewLabel } from "../service/previews.ts";
import { type Shares, toShareView } from "../service/shares.ts";
import { findAgent } from "./agents.ts";
import { handle } from "./handle.ts";
import type { PreviewHosts } from "./previews/hosts.ts";
import { shareLink } from "./previews/preview-server.ts";
import { handleSocket, type SocketParts } from "./sockets.ts";

/** The most that may wait for a slow client, in bytes. */
const maximumWaiting = 1024 * 1024;
const endFrame = JSON.stringify({ type: "end" });

/** `/agents/{name}/ports`: what listens in an agent's machine, connections to it, and links that share it. */
export function portRoutes(
  agents: Agents,
  ports: Ports,
  shares: Shares,
  hosts: PreviewHosts,
  sockets: SocketParts,
): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listPorts, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return { data: await ports.list(agent, request.caller) };
    });

    handleSocket(
      app,
      routes.connectPort,
      sockets,
      async (request) => {
        const agent = await findAgent(agents, request, request.params.name);
        return ports.connect(agent, request.caller, request.params.port);
      },
      joinSocket,
    );

    handle(app, routes.createShare, async (request, reply) => {
      const { name, port } = request.params;
      const agent = await findAgent(agents, request, name);
      const { share, secret } = await shares.create(agent, port, request.body);
      reply.header("cache-control", "no-store");
      return { ...toShareView(share), url: hosts.url(previewLabel(agent, port), shareLink(secret)) };
    });

    handle(app, routes.listShares, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return { data: (await shares.list(agent)).map(toShareView) };
    });

    handle(app, routes.removeShare, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      await shares.remove(agent, request.params.shareId);
      return null;
    });
  };
}

/** Joins a WebSocket with a connection to a port, until both directions have ended or either end is gone. */
async function joinSocket(socket: WebSocket, connection: Duplex, gone: AbortSignal): Promise<void> {
  gone.addEventListener("abort", () => connection.destroy());
  if (gone.aborted) connection.destroy();
  socket.on("message", (data, isBinary) => toPort(socket, connection, data, isBinary));
  connection.on("drain", () => socket.resume());
  const clientEnded = new Promise<void>((resolve) => connection.once("finish", resolve));
  try {
    for await (const chunk of connection.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      await sendBytes(socket, chunk);
    }
  } catch (error) {
    if (gone.aborted) return;
    throw new BerthError("machine_lost", "The connection to the port broke off.", { cause: error });
  }
  socket.send(endFrame);
  const closed = new Promise((resolve) => connection.once("close", resolve));
  if (!connection.destroyed) await Promise.race([clientEnded, closed]);
}

/** Bytes are the connection's; a text ends this direction of it. */
function toPort(socket: WebSocket, connection: Duplex, data: RawData, isBinary: boolean): void {
  if (connection.writableEnded) return;
  if (!isBinary) return void connection.end();
  if (!connection.write(data as Buffer)) socket.pause();
}

/** Sends a piece, and waits while too much is on its way. */
async function sendBytes(socket: WebSocket, chunk: Buffer): Promise<void> {
  const sent = new Promise<void>((resolve) => socket.send(chunk, () => resolve()));
  if (socket.bufferedAmount > maximumWaiting) await sent;
}
