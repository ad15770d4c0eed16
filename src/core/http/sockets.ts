import type { EventEmitter } from "node:events";
import type { Server } from "node:http";
import { Duplex } from "node:stream";
import websocket from "@fastify/websocket";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import type { z } from "zod";
import type { AppContext } from "../../context.ts";
import { asBerthError, BerthError } from "../../contract/errors.ts";
import type { Route } from "../../contract/route.ts";
import { parseValue } from "../../contract/validation.ts";
import { parseJson } from "../json-structure.ts";
import { begun } from "./begun.ts";
import { errorBody } from "./errors.ts";
import { optionsOf, type RequestOf } from "./handle.ts";
import { isOriginOf } from "./origins.ts";

const maximumMessageBytes = 1024 * 1024;
/** A peer that answers no ping for two intervals is gone. */
const pingMs = 20_000;
/** Close codes of RFC 6455: normal; internal error. */
const closedNormally = 1000;
const closedByError = 1011;

/** Prepares `app` for the routes that `handleSocket` adds. `upgrades` emits `upgrade` as a server does. */
export async function acceptSockets(
  app: FastifyInstance,
  upgrades: EventEmitter,
  allowedOrigins: readonly string[],
): Promise<void> {
  // The plugin uses only the server's event.
  const server = upgrades as Server;
  await app.register(websocket, { options: { server, maxPayload: maximumMessageBytes, perMessageDeflate: false } });
  app.addHook("onRequest", async (request) => {
    if (!request.ws) return;
    requireOwnOrigin(request, allowedOrigins);
    const { route } = request.routeOptions.config;
    if (route && route.socket === undefined) throw new BerthError("request_invalid", "This is not a WebSocket.");
  });
}

/** Rejects sockets of pages of other origins. Programs send no origin. */
function requireOwnOrigin({ headers }: FastifyRequest, allowedOrigins: readonly string[]): void {
  const { origin, host } = headers;
  if (origin === undefined || allowedOrigins.includes(origin) || isOriginOf(origin, host)) return;
  throw new BerthError("forbidden", "A page of this origin may not open a WebSocket here.");
}

/**
 * Adds a route that is a WebSocket. `prepare` runs before the upgrade: its errors are ordinary error responses. A
 * connection that it returns is destroyed when the client's socket closes, before or after the upgrade. `serve` has the
 * socket until it settles; `gone` aborts when the socket closes. An error of `serve` is sent as a frame of JSON,
 * `{type: "error", code, message}`.
 */
export function handleSocket<R extends Route, Prepared>(
  app: FastifyInstance,
  route: R,
  context: AppContext,
  prepare: (request: RequestOf<R>, reply: FastifyReply) => Promise<Prepared>,
  serve: (socket: WebSocket, prepared: Prepared, gone: AbortSignal) => Promise<void>,
): void {
  const prepared = new WeakMap<FastifyRequest, Prepared>();
  app.route({
    ...optionsOf(route),
    // After the hooks that authenticate and check.
    preHandler: async (request, reply) => {
      if (!request.ws) throw upgradeRequired(reply);
      const { socket } = request.raw;
      const entered = context.streams.enter(request);
      try {
        const value = await prepare(request as unknown as RequestOf<R>, reply);
        prepared.set(request, value);
        const end = () => {
          entered[Symbol.dispose]();
          if (value instanceof Duplex) value.destroy();
        };
        socket.once("close", end);
        if (socket.destroyed) end();
        await begun(context, request, reply.code(101));
      } catch (error) {
        entered[Symbol.dispose]();
        throw error;
      }
    },
    handler: async (_, reply) => {
      throw upgradeRequired(reply);
    },
    wsHandler: async (socket: WebSocket, request: FastifyRequest) => {
      const gone = new AbortController();
      socket.on("close", () => gone.abort());
      socket.on("error", () => {});
      using _ = keepAlive(socket);
      try {
        await serve(socket, prepared.get(request)!, gone.signal);
        socket.close(closedNormally);
      } catch (thrown) {
        const error = asBerthError(thrown, "internal", "An internal error occurred.");
        if (error.status >= 500) request.log.error({ err: thrown }, "a socket failed");
        const { code, message } = errorBody(error);
        await sendFrame(socket, { type: "error", code, message });
        socket.close(closedByError);
      }
    },
  });
}

function upgradeRequired(reply: FastifyReply): BerthError {
  reply.header("upgrade", "websocket");
  return new BerthError("upgrade_required", "This is a WebSocket: ask for it with `upgrade: websocket`.");
}

/** Throws `request_invalid`; `example` is a valid frame. */
export function parseFrame<Schema extends z.ZodType>(schema: Schema, frame: Buffer, example: string): z.output<Schema> {
  try {
    return parseValue(schema, parseJson(frame));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw new BerthError("request_invalid", (error as Error).message);
    throw new BerthError("request_invalid", `A frame is JSON, such as ${example}.`);
  }
}

/** Waits until the frame is sent. A closed socket drops it silently. */
export function sendFrame(socket: WebSocket, frame: unknown): Promise<void> {
  return new Promise((resolve) => socket.send(JSON.stringify(frame), () => resolve()));
}

/** Pings the peer, and terminates the socket of a peer that is gone. */
function keepAlive(socket: WebSocket): Disposable {
  let isThere = true;
  socket.on("pong", () => {
    isThere = true;
  });
  const timer = setInterval(() => {
    if (!isThere) return socket.terminate();
    isThere = false;
    socket.ping();
  }, pingMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
