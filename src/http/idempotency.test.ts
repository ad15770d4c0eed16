import fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { routes } from "../api/routes.ts";
import { BerthError } from "../contract/errors.ts";
import type { Claim, IdempotencyRows } from "../service/idempotency.ts";
import { handleError } from "./errors.ts";
import { Idempotency } from "./idempotency.ts";

const away = async () => {
  throw new BerthError("database_unavailable", "The database does not answer.");
};

let app: FastifyInstance;
/** The rows' behaviour in each test. */
let rows: IdempotencyRows;
let worked: number;

beforeEach(() => {
  worked = 0;
  app = fastify();
  app.setErrorHandler(handleError);
  app.addHook("onRequest", async (request) => {
    const nobody = { agentIds: null, creditLimitMicro: null, expiresAt: null, operator: false };
    request.caller = { accountId: "account", keyId: "key", credential: "full", ...nobody };
  });
  const claim = async (request: Claim["request"]) =>
    ({ state: "claimed", claim: { request, owner: "me", resourceId: "it" }, again: false }) as const;
  rows = { claim, renew: async () => {}, move: async () => {}, answer: async () => true, release: async () => {} };
});
afterEach(() => app.close());

async function post(status = 200) {
  new Idempotency(rows, 300).addTo(app);
  app.post("/", { config: { route: routes.createAgent } }, async (_request, reply) => {
    worked += 1;
    return reply.code(status).send({ worked });
  });
  return app.inject({ method: "POST", url: "/", headers: { "idempotency-key": "key" } });
}

test("one that waits too long for another's answer is told that it is in use", async () => {
  rows.claim = async () => ({ state: "running" });
  const refused = await post();
  expect([refused.statusCode, refused.json().code, worked]).toEqual([409, "idempotency_key_in_use", 0]);
});

test("where the key cannot be looked up, nothing is done", async () => {
  rows.claim = away;
  const refused = await post();
  expect([refused.statusCode, refused.json().code, worked]).toEqual([503, "database_unavailable", 0]);
});

test("an answer that cannot be kept is not given", async () => {
  rows.answer = away;
  const refused = await post();
  expect([refused.statusCode, refused.json().code, worked]).toEqual([503, "database_unavailable", 1]);
});

test("a failure is told also where the claim cannot be given back", async () => {
  rows.release = away;
  expect((await post(502)).statusCode).toBe(502);
});
