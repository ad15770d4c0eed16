import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { handleError } from "../core/http/errors.ts";

export type RpcId = string | number | null;

/** Codes of JSON-RPC 2.0 (5.1). */
export const rpcCodes = { notJson: -32_700, invalidRequest: -32_600, methodNotFound: -32_601 } as const;

export function rpcError(id: RpcId, code: number, message: string) {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

const notJson = ["FST_ERR_CTP_INVALID_JSON_BODY", "FST_ERR_CTP_EMPTY_JSON_BODY"];

/** As `handleError`. A body that is not JSON gets JSON-RPC's error. */
export function handleRpcError(thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!notJson.includes(thrown.code)) return handleError(thrown, request, reply);
  request.errorCode = "request_invalid";
  return reply
    .code(400)
    .type("application/json")
    .serializer(JSON.stringify)
    .send(rpcError(null, rpcCodes.notJson, "The body is not JSON."));
}
