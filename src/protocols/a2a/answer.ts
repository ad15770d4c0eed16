import { A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER } from "@a2a-js/sdk";
import { VersionNotSupportedError } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import { safeParseValue, textOf } from "../../contract/validation.ts";
import { type SseEvent, sendEvents } from "../../core/http/sse.ts";
import { type RpcId, rpcCodes, rpcError } from "../rpc-errors.ts";
import type { AgentTasks } from "./agent-tasks.ts";
import { methods, RpcRequest, requireParams } from "./requests.ts";

/** Answers a call, with a stream of responses if its method has one. */
export async function answer(request: FastifyRequest, reply: FastifyReply, tasks: AgentTasks): Promise<unknown> {
  const parsed = safeParseValue(RpcRequest, request.body);
  if (!parsed.success) return rpcError(idIn(request.body), rpcCodes.invalidRequest, textOf(parsed.issues));
  const { id = null, method, params } = parsed.data;
  const refused = (error: unknown) => ({
    jsonrpc: "2.0",
    id,
    error: JsonRpcTransportHandler.mapToJSONRPCError(error),
  });
  const wrongVersion = versionError(request, method);
  if (wrongVersion) return refused(wrongVersion);
  if (!methods.has(method))
    return rpcError(id, rpcCodes.methodNotFound, `There is no such method. Methods: ${[...methods].join(", ")}.`);
  try {
    requireParams(params);
    const answered = await new JsonRpcTransportHandler(tasks).handle(parsed.data, new ServerCallContext());
    if (!(Symbol.asyncIterator in answered)) return answered;
    const responses = answered[Symbol.asyncIterator]();
    // Refusals are sent before the stream begins.
    const first = await responses.next();
    await sendEvents(reply, {}, () => streamed(first, responses));
    return reply;
  } catch (error) {
    return refused(error);
  }
}

/** The id of an invalid request; null without a valid one. */
function idIn(body: unknown): RpcId {
  const { id } = (body ?? {}) as { id?: unknown };
  return RpcRequest.shape.id.safeParse(id).data ?? null;
}

/**
 * Null for a version that is served; patch versions do not count. By the specification (3.6.2) a request without a
 * version is 0.3. It is served if its method is one of 1.0: those of 0.3 have other names.
 */
function versionError({ headers, query }: FastifyRequest, method: string): Error | null {
  const { [A2A_VERSION_HEADER]: asked } = query as Record<string, unknown>;
  const version = String(headers[A2A_VERSION_HEADER.toLowerCase()] ?? asked ?? "");
  const isServed = version === "" ? methods.has(method) : /^\d+\.\d+/.exec(version)?.[0] === A2A_PROTOCOL_VERSION;
  if (isServed) return null;
  const named =
    version === "" ? "No version means 0.3, which is not supported." : `Version ${version} is not supported.`;
  return new VersionNotSupportedError(
    `${named} Use version ${A2A_PROTOCOL_VERSION}, with the header ${A2A_VERSION_HEADER}: ${A2A_PROTOCOL_VERSION}.`,
  );
}

async function* streamed(
  first: IteratorResult<unknown, void>,
  rest: AsyncGenerator<unknown, void>,
): AsyncGenerator<SseEvent[]> {
  if (first.done) return;
  yield [{ data: first.value }];
  for await (const data of rest) yield [{ data }];
}
