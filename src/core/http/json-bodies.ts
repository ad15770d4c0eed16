import type { FastifyInstance } from "fastify";
import { requireSimple } from "../json-structure.ts";

/** Parses the JSON bodies of the routes of `app`, after checking their size and depth. */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    // OpenAI's client for Python names the type of the body that its DELETE does not have.
    if (body.length === 0 && !request.routeOptions.schema?.body) return done(null);
    try {
      requireSimple(body as Buffer);
    } catch (error) {
      return done(error as Error);
    }
    return parse(request, String(body), done);
  });
}
