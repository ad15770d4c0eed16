import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { ErrorBody } from "../../contract/agents.ts";
import { BerthError, type ErrorCode } from "../../contract/errors.ts";
import { routes } from "../../contract/routes.ts";
import { InvalidValue } from "../../contract/validation.ts";
import { JsonTooComplex } from "../json-structure.ts";
import { notAgain, openAiError } from "./openai-errors.ts";

declare module "fastify" {
  interface FastifyRequest {
    errorCode?: ErrorCode;
  }
}

/** When a request may succeed, if the error does not say it. */
const usualRetrySeconds = 5;

/** The body of error responses, except those of other services' APIs. */
export function errorBody(error: BerthError): ErrorBody {
  return {
    statusCode: error.status,
    message: concealed(error.message),
    error: STATUS_CODES[error.status]!,
    code: error.code,
    ...(error.details === undefined ? {} : { details: JSON.parse(concealed(JSON.stringify(error.details))) }),
  };
}

/**
 * Conceals keys and tokens, which error texts may repeat if somebody passed them by mistake. Tokens are matched only at
 * the beginning of a word: otherwise a word of a megabyte would take hours.
 */
function concealed(text: string): string {
  return text.replaceAll(/berth_[a-z]{2}_\w{20,}|(?<![\w-])eyJ[\w-]{10,}\.[\w-]+\.[\w-]+/g, "…");
}

/** Sends the thrown error. Unexpected errors are logged in full; the client gets one sentence. */
export function handleError(thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toBerthError(thrown, request);
  if (error.status >= 500) request.log.error({ err: thrown, cause: error.cause }, "a request failed");
  request.errorCode = error.code;
  reply.header("x-request-id", request.id); // The router's own errors run no hook.
  if (error.status === 401 && !reply.hasHeader("www-authenticate")) reply.header("www-authenticate", "Bearer");
  const isBusy = error.status === 503 || error.status === 429;
  const { retryAfterSeconds = usualRetrySeconds } = (error.details ?? {}) as { retryAfterSeconds?: number };
  if (isBusy && !reply.hasHeader("retry-after")) reply.header("retry-after", String(retryAfterSeconds));
  if (error.status === 409 && isOpenAi(request)) reply.header(...notAgain);
  return reply.status(error.status).type("application/json").send(bodyFor(request, error));
}

/** In the shape that the path's clients read. */
export function bodyFor(request: FastifyRequest, error: BerthError): object {
  const body = errorBody(error);
  return isOpenAi(request) ? openAiError(error, body.message) : body;
}

function isOpenAi({ routeOptions, url }: FastifyRequest): boolean {
  const { route } = routeOptions.config ?? {};
  return route ? route.errors === "openai" : url.startsWith("/v1/");
}

/** Responds to invalid HTTP, and closes the connection. */
export function answerClientError(thrown: Error & { code?: string }, socket: Socket): void {
  if (thrown.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const error = clientErrors[thrown.code ?? ""] ?? new BerthError("request_invalid", "This is not an HTTP request.");
  const body = JSON.stringify(errorBody(error));
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${randomUUID()}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

const clientErrors: Readonly<Record<string, BerthError>> = {
  HPE_HEADER_OVERFLOW: new BerthError("headers_too_large", "A request's headers can have at most 16 KiB."),
  ERR_HTTP_REQUEST_TIMEOUT: new BerthError("request_timeout", "The request took too long to arrive."),
};

function toBerthError(thrown: FastifyError, request: FastifyRequest): BerthError {
  if (thrown instanceof BerthError) return thrown;
  if (thrown instanceof InvalidValue) return invalidRequest(thrown, request);
  if (thrown instanceof JsonTooComplex)
    return new BerthError("request_invalid", `The body is too complex. ${thrown.message}`);
  switch (thrown.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new BerthError("body_too_large", `A request's body can have at most ${mostMiB(request)} MiB.`);
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new BerthError("content_type_unsupported", "The body's content type must be application/json.");
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
    case "FST_ERR_CTP_INVALID_JSON_BODY":
      return new BerthError("request_invalid", "The body is not JSON.");
    case "FST_ERR_BAD_URL":
      return new BerthError("request_invalid", "The path is not valid percent-encoded UTF-8.");
    default:
  }
  if (thrown.statusCode === 414) return new BerthError("path_not_found", "There is no such path; it is too long.");
  if (thrown.statusCode !== undefined && thrown.statusCode >= 400 && thrown.statusCode < 500) {
    return new BerthError("request_invalid", thrown.message);
  }
  return new BerthError("internal", "An internal error occurred.", { cause: thrown });
}

/** The body limit of the route. */
function mostMiB({ routeOptions }: FastifyRequest): number {
  return (routeOptions.bodyLimit ?? 1024 * 1024) / (1024 * 1024);
}

/** Lists invalid fields and what is allowed. `validationContext`: the invalid part of the request, by Fastify. */
function invalidRequest(
  { issues, message, validationContext }: InvalidValue & { validationContext?: string },
  request: FastifyRequest,
): BerthError {
  if (request.body === undefined && validationContext === "body") {
    return new BerthError("request_invalid", "The request has no body; a JSON object is expected.");
  }
  const ofAgent = request.routeOptions.config.route === routes.createAgent;
  const onlyName = ofAgent && issues.length > 0 && issues.every(({ field }) => field === "name");
  return new BerthError(onlyName ? "agent_name_invalid" : "request_invalid", message, { details: { issues } });
}
