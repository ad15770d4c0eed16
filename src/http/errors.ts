import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { hasZodFastifySchemaValidationErrors } from "fastify-type-provider-zod";
import { routes } from "../api/routes.ts";
import type { ErrorBody } from "../contract/agents.ts";
import { BerthError, type ErrorCode } from "../contract/errors.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Why it was refused; not there where it was not. */
    errorCode?: ErrorCode;
  }
}

/** The one shape of every answer that is not a success. */
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
 * An error's text repeats what was wrong, which may be a key or a token that somebody took for something else. A token is
 * looked for where a word begins: looked for anywhere, a word of a megabyte would take hours.
 */
function concealed(text: string): string {
  return text.replaceAll(/berth_[a-z]{2}_\w{20,}|(?<![\w-])eyJ[\w-]{10,}\.[\w-]+\.[\w-]+/g, "…");
}

/** Answers whatever was thrown. What nobody foresaw is logged whole and told to the client in one sentence. */
export function handleError(thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toBerthError(thrown, request);
  if (error.status >= 500) request.log.error({ err: thrown, cause: error.cause }, "a request failed");
  request.errorCode = error.code;
  reply.header("x-request-id", request.id); // What the router itself refuses passes no hook.
  if (error.status === 401) reply.header("www-authenticate", "Bearer");
  if (error.status === 503) reply.header("retry-after", "5");
  return reply.status(error.status).type("application/json").send(errorBody(error));
}

/** Answers what never became a request, and closes the connection. */
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
  HPE_HEADER_OVERFLOW: new BerthError("headers_too_large", "A request's headers have 16 KiB at most."),
  ERR_HTTP_REQUEST_TIMEOUT: new BerthError("request_timeout", "The request did not come to its end in time."),
};

/** A parser's or a validator's complaint, or a fault, in the words of the contract. */
function toBerthError(thrown: FastifyError, request: FastifyRequest): BerthError {
  if (thrown instanceof BerthError) return thrown;
  if (hasZodFastifySchemaValidationErrors(thrown)) return invalidRequest(thrown, request);
  switch (thrown.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new BerthError("body_too_large", "A request's body has 1 MiB at most.");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new BerthError("content_type_unsupported", "The body's content type must be application/json.");
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
    case "FST_ERR_CTP_INVALID_JSON_BODY":
      return new BerthError("request_invalid", "The body is not JSON.");
    default:
  }
  if (thrown.statusCode === 414) return new BerthError("path_not_found", "There is no such path: it is too long.");
  if (thrown.statusCode !== undefined && thrown.statusCode >= 400 && thrown.statusCode < 500) {
    return new BerthError("request_invalid", thrown.message);
  }
  return new BerthError("internal", "Something went wrong within the service.", { cause: thrown });
}

interface Complaint {
  instancePath?: string;
  message?: string;
  params?: { issue?: { code?: string; keys?: string[]; path?: PropertyKey[] } };
}

interface Invalid {
  validation: readonly Complaint[];
  /** The part of the request that was wrong. */
  validationContext?: string;
}

/** Names each field that was wrong and what is allowed there. */
function invalidRequest({ validation, validationContext }: Invalid, request: FastifyRequest): BerthError {
  if (request.body === undefined && validationContext === "body") {
    return new BerthError("request_invalid", "The request has no body; a JSON object is expected.");
  }
  const issues = validation.map(({ instancePath = "", message = "" }) => ({
    field: instancePath.slice(1).replaceAll("/", "."),
    message,
  }));
  const text = issues.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; ");
  const ofAgent = request.routeOptions.config.route === routes.createAgent;
  const onlyName = ofAgent && issues.length > 0 && issues.every(({ field }) => field === "name");
  return new BerthError(onlyName ? "agent_name_invalid" : "request_invalid", text, { details: { issues } });
}
