import fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Route } from "../../contract/route.ts";
import { routes } from "../../contract/routes.ts";
import { signInPrefix } from "../../contract/sign-in.ts";
import { handle, matchTable } from "./handle.ts";

let app: FastifyInstance;
let requireAll: () => void;

beforeEach(() => {
  app = fastify();
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  requireAll = matchTable(app);
});
afterEach(() => app.close());

function handleAll(all: Route[]): void {
  for (const route of all) handle(app, route, async () => null);
}

test("a route that is not in the table is refused as it is added, but for the sign-in's", () => {
  app.all(`${signInPrefix}/*`, async () => null);
  expect(() => app.get("/extra", async () => null)).toThrow("/extra is not in the table of routes");
});

test("every route of the table needs a handler", () => {
  const [missing, ...others] = Object.values<Route>(routes);
  handleAll(others);
  expect(requireAll).toThrow(`nothing answers ${missing!.operation}`);
  handleAll([missing!]);
  expect(requireAll).not.toThrow();
});

test("HEAD is the route of GET, with its permission", async () => {
  const seen: (Route | undefined)[] = [];
  app.addHook("onRequest", async (request) => void seen.push(request.routeOptions.config.route));
  handle(app, routes.getAgent, async (_request, reply) => reply.send({}));
  await app.inject({ method: "HEAD", url: "/agents/ada" });
  expect(seen).toEqual([routes.getAgent]);
});
