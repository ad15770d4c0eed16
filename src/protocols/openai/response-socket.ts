import { randomUUID } from "node:crypto";
import { on } from "node:events";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { FastifyPluginAsync } from "fastify";
import type { WebSocket } from "ws";
import { z } from "zod";
import type { AppContext } from "../../context.ts";
import { asBerthError, BerthError } from "../../contract/errors.ts";
import { CreateResponse } from "../../contract/openai.ts";
import { routes } from "../../contract/routes.ts";
import { errorBody } from "../../core/http/errors.ts";
import { countRequest } from "../../core/http/guard.ts";
import { openAiError } from "../../core/http/openai-errors.ts";
import { handleSocket, parseFrame, sendFrame } from "../../core/http/sockets.ts";
import type { Carrier } from "../carried-operations.ts";
import { createResponse } from "./create.ts";
import { responseEvents } from "./read.ts";

/**
 * A client's frame: a request without the fields that say how to answer it. `stream` is ignored, as by OpenAI's server:
 * some clients send it.
 */
const Frame = CreateResponse.omit({ background: true, stream_options: true }).extend({
  type: z.literal("response.create", 'A frame\'s type must be "response.create".'),
});

/** How many frames may wait behind the one being answered. */
const maximumWaiting = 8;

/**
 * `/v1/responses` as a WebSocket, as the Open Responses specification has it: the client sends requests. Each is
 * answered by its events before the next is read.
 */
export function responseSocketRoutes(context: AppContext): FastifyPluginAsync {
  return async (app) => {
    handleSocket(
      app,
      routes.openResponses,
      context,
      async (request, reply) => ({ request, reply }),
      async (socket, carrier, gone) => {
        const frames = on(socket, "message", { signal: gone, close: ["close"], highWaterMark: maximumWaiting });
        try {
          for await (const [data] of frames) {
            await answer(context, data as Buffer, { socket, carrier, gone }).catch(async (thrown: unknown) => {
              const error = asBerthError(thrown, "internal", "An internal error occurred.");
              if (error.status >= 500) carrier.request.log.error({ err: thrown }, "a request on a socket failed");
              const { message } = errorBody(error);
              await sendFrame(socket, { type: "error", status: error.status, ...openAiError(error, message) });
            });
          }
        } catch (error) {
          if (!gone.aborted) throw error;
        }
      },
    );
  };
}

/** The source of a frame. */
interface Origin {
  socket: WebSocket;
  carrier: Carrier;
  /** Aborts when the socket closes. */
  gone: AbortSignal;
}

async function answer(context: AppContext, frame: Buffer, { socket, carrier, gone }: Origin): Promise<void> {
  const { operations, passing, turns } = context;
  const { type: _, stream: __, ...body } = parse(frame);
  await countRequest(context, carrier.request, carrier.reply);
  const inner = { agent: body.model, path: routes.createResponse.path, body: { ...body, stream: true } };
  const elsewhere = await passing?.ask(carrier.request, inner, gone);
  if (elsewhere) return passBack(elsewhere, socket);
  const place = await operations.perform(routes.createResponse, carrier, async (operation) => {
    const agent = await operation.findAgent(body.model);
    const { caller, headers, log, ip, id } = carrier.request;
    const attempt = { resourceId: randomUUID(), earlier: "none" } as const;
    const begun = await createResponse(context, { caller, headers, log, ip, id, attempt }, agent, body);
    return { ...begun, model: agent.name };
  });
  for await (const events of responseEvents(turns, place, -1, gone)) {
    for (const event of events) if ("data" in event) await sendFrame(socket, event.data);
  }
}

/** Sends another server's response as frames, as they arrive. Throws `agent_elsewhere` if it breaks off. */
async function passBack(answer: Response, socket: WebSocket): Promise<void> {
  if (!answer.ok) {
    const refusal = (await answer.json()) as Record<string, unknown>;
    return sendFrame(socket, { type: "error", status: answer.status, ...refusal });
  }
  const events = answer.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  try {
    for await (const { data } of events) {
      if (data === "[DONE]") return;
      await sendFrame(socket, JSON.parse(data));
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
