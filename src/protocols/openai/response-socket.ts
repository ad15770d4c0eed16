import { randomUUID } from "node:crypto";
import { on } from "node:events";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { FastifyPluginAsync } from "fastify";
import type { WebSocket } from "ws";
import { z } from "zod";
import type { AppContext } from "../../context.ts";
import { asBerthError, BerthError } from "../../contract/errors.ts";
import { CreateResponse, fromResponseId, responseId } from "../../contract/openai.ts";
import { routes } from "../../contract/routes.ts";
import { errorBody } from "../../core/http/errors.ts";
import { countRequest } from "../../core/http/guard.ts";
import { openAiError } from "../../core/http/openai-errors.ts";
import { handleSocket, parseFrame, sendFrame } from "../../core/http/sockets.ts";
import type { Carrier } from "../carried-operations.ts";
import { createResponse } from "./create.ts";
import { responseEvents } from "./read.ts";
import type { HeldResponse } from "./stored-responses.ts";
import { itemsOf, type WarmUp, warmUp } from "./warm-up.ts";

/**
 * A client's frame: a request without the fields that say how to answer it. `stream` is ignored, as by OpenAI's server:
 * some clients send it.
 */
const Frame = CreateResponse.omit({ background: true, stream_options: true }).extend({
  generate: z.boolean().nullish(),
  type: z.literal("response.create", 'A frame\'s type must be "response.create".'),
});

/** How many frames may wait behind the one being answered. */
const maximumWaiting = 8;

/**
 * `/v1/responses` as a WebSocket, as the Open Responses specification has it: the client sends requests. Each is
 * answered by its events before the next is read. When the connection's time is over, the response in progress is
 * completed.
 */
export function responseSocketRoutes(context: AppContext): FastifyPluginAsync {
  return async (app) => {
    handleSocket(
      app,
      routes.openResponses,
      context,
      async (request, reply) => ({ request, reply }),
      async (socket, carrier, gone) => {
        const origin: Origin = { socket, carrier, gone, last: null };
        const over = new AbortController();
        const timer = setTimeout(() => over.abort(), context.config.responseSocketMs);
        const signal = AbortSignal.any([gone, over.signal]);
        const frames = on(socket, "message", { signal, close: ["close"], highWaterMark: maximumWaiting });
        try {
          for await (const [data] of frames) {
            if (over.signal.aborted) break;
            await answer(context, data as Buffer, origin).catch((thrown: unknown) => refuse(origin, thrown));
          }
        } catch (error) {
          if (!signal.aborted) throw error;
        } finally {
          clearTimeout(timer);
        }
        if (over.signal.aborted && !gone.aborted) await refuse(origin, limitReached(context.config.responseSocketMs));
      },
    );
  };
}

async function refuse({ socket, carrier }: Origin, thrown: unknown): Promise<void> {
  const error = asBerthError(thrown, "internal", "An internal error occurred.");
  if (error.status >= 500) carrier.request.log.error({ err: thrown }, "a request on a socket failed");
  const { message } = errorBody(error);
  await sendFrame(socket, { type: "error", status: error.status, ...openAiError(error, message) });
}

function limitReached(limitMs: number): BerthError {
  const message = `A WebSocket takes requests for ${limitMs / 60_000} minutes. Open another, and send the requests that were not answered there.`;
  return new BerthError("websocket_connection_limit_reached", message);
}

/** The source of a frame. */
interface Origin {
  socket: WebSocket;
  carrier: Carrier;
  /** Aborts when the socket closes. */
  gone: AbortSignal;
  /** The last response, which can be continued here although it is not stored; null: none, or its continuation failed. */
  last: HeldResponse | WarmUp | null;
}

async function answer(context: AppContext, frame: Buffer, origin: Origin): Promise<void> {
  const { socket, carrier, last } = origin;
  const { type: _, stream: __, generate, ...given } = parse(frame);
  await countRequest(context, carrier.request, carrier.reply);
  const names = last !== null && given.previous_response_id === responseId(last.id);
  // An error ends the response that it was to continue.
  if (names) origin.last = null;
  const prepared = names && "input" in last ? last : null;
  const held = names && "turnId" in last ? last : null;
  const body = prepared ? { ...given, ...continued(prepared, given.input) } : given;
  if (generate === false) {
    const agent = await context.operations.perform(routes.createResponse, carrier, (operation) =>
      operation.findAgent(body.model),
    );
    const { kept, events } = warmUp(agent, body, frame.length + (prepared?.bytes ?? 0));
    origin.last = kept;
    for (const event of events) await sendFrame(socket, event);
    return;
  }
  origin.last = await respond(context, body, origin, held);
}

/** The input after that of a response which was prepared, and has no turn to continue. */
function continued({ input: prepared }: WarmUp, input: CreateResponse["input"]) {
  return { input: [...prepared, ...itemsOf(input)], previous_response_id: null };
}

/** Sends a response's events. Returns it, or null if it failed. */
async function respond(
  context: AppContext,
  body: CreateResponse,
  { socket, carrier, gone }: Origin,
  continues: HeldResponse | null,
): Promise<HeldResponse | null> {
  const { operations, passing, turns } = context;
  const inner = { agent: body.model, path: routes.createResponse.path, body: { ...body, stream: true }, continues };
  const elsewhere = await passing?.ask(carrier.request, inner, gone);
  if (elsewhere) return passBack(elsewhere, socket);
  const place = await operations.perform(routes.createResponse, carrier, async (operation) => {
    const agent = await operation.findAgent(body.model);
    const { caller, headers, log, ip, id } = carrier.request;
    const attempt = { resourceId: randomUUID(), earlier: "none" } as const;
    const begun = await createResponse(context, { caller, headers, log, ip, id, attempt }, agent, body, continues);
    return { ...begun, model: agent.name };
  });
  let type: unknown;
  for await (const events of responseEvents(turns, place, -1, gone)) {
    for (const event of events) {
      if (!("data" in event)) continue;
      await sendFrame(socket, event.data);
      ({ type } = event.data as { type: unknown });
    }
  }
  return type === "response.failed" ? null : { id: place.response.id, turnId: place.turn.id };
}

/** Sends another server's response as frames, as they arrive. Throws `agent_elsewhere` if it breaks off. */
async function passBack(answer: Response, socket: WebSocket): Promise<HeldResponse | null> {
  if (!answer.ok) {
    const refusal = (await answer.json()) as Record<string, unknown>;
    await sendFrame(socket, { type: "error", status: answer.status, ...refusal });
    return null;
  }
  let last: { type?: string; response?: { id: string } } = {};
  const events = answer.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  try {
    for await (const { data } of events) {
      if (data === "[DONE]") {
        const isKept = last.response && last.type !== "response.failed";
        return isKept ? { id: fromResponseId(last.response!.id), turnId: answer.headers.get("x-turn-id")! } : null;
      }
      last = JSON.parse(data) as typeof last;
      await sendFrame(socket, last);
    }
  } catch (cause) {
    throw brokenOff(cause);
  }
  throw brokenOff(null);
}

function brokenOff(cause: unknown): BerthError {
  const message = "The server that leads the agent's host was lost; the response continues, and can be read by its id.";
  return new BerthError("agent_elsewhere", message, { cause });
}

function parse(frame: Buffer): z.output<typeof Frame> {
  return parseFrame(Frame, frame, '{"type": "response.create", "model": "ada", …}');
}
