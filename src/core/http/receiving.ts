import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Route } from "../../contract/route.ts";
import { routes } from "../../contract/routes.ts";
import { answerClientError } from "./errors.ts";

/** From a request's headers to the end of its body. */
const bodyTimeoutMs = 30_000;
/** The longest pause of a body of bytes. */
const stallTimeoutMs = 60_000;

const ofBytes = Object.values<Route>(routes)
  .filter(({ takesBytes }) => takesBytes === "stream")
  .map(({ method, path, rest }) => ({ method, pattern: patternOf(path, rest === true) }));

/**
 * Ends requests whose bodies arrive too slowly: JSON by total time, bytes by the longest pause. Node's own limit
 * (`requestTimeout`) does not distinguish them. `isOthers`: whether a request is not for the API, and its body has no
 * limit.
 */
export function limitReceiving(server: Server | SecureServer, isOthers: (request: IncomingMessage) => boolean): void {
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
    if (encoding === undefined && length === "0") return;
    const path = request.url?.split("?")[0] ?? "";
    const isUpload = ofBytes.some(({ method, pattern }) => method === request.method && pattern.test(path));
    const isBytes = isUpload || isOthers(request);
    watch(request, response, isBytes);
  });
}

function watch(request: IncomingMessage, response: ServerResponse, isBytes: boolean): void {
  const { socket } = request;
  let seen = socket.bytesRead;
  const timer = setInterval(
    () => {
      if (request.complete || socket.destroyed) return clearInterval(timer);
      if (isBytes && socket.bytesRead > seen) {
        seen = socket.bytesRead;
        return;
      }
      clearInterval(timer);
      if (response.headersSent) socket.destroy();
      else answerClientError(Object.assign(new Error("too slow"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
    },
    isBytes ? stallTimeoutMs : bodyTimeoutMs,
  );
  timer.unref();
  request.once("end", () => clearInterval(timer));
}

function patternOf(path: string, rest: boolean): RegExp {
  const whole = rest ? path.replace(/\{\w+\}$/, ".*") : path;
  return new RegExp(`^${whole.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}
