import type { FastifyInstance } from "fastify";
import { BerthError } from "../../contract/errors.ts";
import { structureOf } from "../../platform/json-structure.ts";

/** Histories have some thousand values. Each costs time and memory of the whole server while a request is read. */
const maximumValues = 100_000;
const maximumDepth = 200;

/** Refuses a JSON text that is large in number of values, or too deep to be stored, before it is parsed. */
export function requireFewValues(json: Uint8Array): void {
  const { values, depth } = structureOf(json);
  if (values <= maximumValues && depth <= maximumDepth) return;
  const allowed = `${maximumValues} JSON values and ${maximumDepth} levels`;
  throw new BerthError("request_invalid", `A request has ${allowed} at most.`);
}

/** Has the routes of `app` check their JSON bodies so. */
export function limitValues(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    try {
      requireFewValues(body as Buffer);
    } catch (error) {
      return done(error as BerthError);
    }
    return parse(request, String(body), done);
  });
}
