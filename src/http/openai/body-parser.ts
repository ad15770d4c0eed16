import type { FastifyInstance } from "fastify";
import { BerthError } from "../../contract/errors.ts";
import { structureOf } from "../../platform/json-structure.ts";

/** Histories have some thousand values. Each costs time and memory of the whole server while a request is read. */
const maximumValues = 100_000;
const maximumDepth = 200;

/** Has the routes of `app` refuse JSON bodies that are large in number of values, before they are parsed. */
export function limitValues(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    const { values, depth } = structureOf(body as Buffer);
    if (values > maximumValues || depth > maximumDepth) {
      const allowed = `${maximumValues} JSON values and ${maximumDepth} levels`;
      return done(new BerthError("request_invalid", `A request has ${allowed} at most.`));
    }
    return parse(request, String(body), done);
  });
}
