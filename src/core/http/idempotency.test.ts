import fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BerthError } from "../../contract/errors.ts";
import { routes } from "../../contract/routes.ts";
import type { Claim, KeptAnswer } from "./attempt.ts";
import { handleError } from "./errors.ts";
import { Idempotency, type Rows } from "./idempotency.ts";

const away = async () => {
  throw new BerthError("database_unavailable", "The database is not responding.");
};

let app: FastifyInstance;
/** The rows' behaviour in each test. */
let rows: Rows;
let worked: number;
let [looks, streams] = [0, 0];
/** The handler waits for it. */
let gate: Promise<void>;

beforeEach(() => {
  [worked, looks, streams] = [0, 0, 0];
  gate = Promise.resolve();
  app = fastify();
  app.setErrorHandler(handleError);
  app.addHook("onRequest", async (request) => {
    const nobody = { agentIds: null, creditLimitMicro: null, expiresAt: null, token: null, operator: false };
    request.caller = {
      accountId: "account",
      personId: null,
      role: "owner",
      keyId: "key",
      credential: "full",
      ...nobody,
    };
  });
  const claim = async (request: Claim["request"]) =>
    ({ state: "claimed", claim: { request, owner: "me", resourceId: "it" }, again: false }) as const;
  rows = { claim, renew: async () => {}, move: async () => {}, answer: async () => true, release: async () => {} };
});
afterEach(() => app.close());

const enter = () => {
  streams++;
  return { [Symbol.dispose]: () => void streams-- };
};

function serve(waitMs: number, status = 200) {
  new Idempotency(rows, { enter }, waitMs).addTo(app);
  app.post("/", { config: { route: routes.createAgent } }, async (_request, reply) => {
    worked += 1;
    await gate;
    return reply.code(status).send({ worked });
  });
}

const send = () => app.inject({ method: "POST", url: "/", headers: { "idempotency-key": "key" } });

function post(status = 200) {
  serve(300, status);
  return send();
}

/** Rows that remember one claim and its answer. */
function remember() {
  let state: "none" | "running" | KeptAnswer = "none";
  rows.claim = async (request) => {
    looks++;
    if (state === "running") return { state };
    if (state !== "none") return { state: "answered", resourceId: "it", answer: state };
    state = "running";
    return { state: "claimed", claim: { request, owner: "me", resourceId: "it" }, again: false };
  };
  rows.answer = async (_, answer) => {
    state = answer;
    return true;
  };
  rows.release = async () => {
    state = "none";
  };
}

test("those that wait for an answer of this server do not look for it meanwhile", async () => {
  remember();
  const opened = Promise.withResolvers<void>();
  gate = opened.promise;
  serve(60_000);
  const first = send();
  await expect.poll(() => worked).toBe(1);
  const waiting = [send(), send()];
  await expect.poll(() => streams).toBe(2);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(looks).toBe(3);
  opened.resolve();
  expect((await first).json()).toEqual({ worked: 1 });
  for (const answer of await Promise.all(waiting)) expect(answer.headers["idempotent-replayed"]).toBe("true");
  expect([looks, worked, streams]).toEqual([5, 1, 0]);
});

test("two wait for an answer, and the next is refused at once", async () => {
  remember();
  const opened = Promise.withResolvers<void>();
  gate = opened.promise;
  serve(60_000);
  const first = send();
  await expect.poll(() => worked).toBe(1);
  const waiting = [send(), send()];
  await expect.poll(() => streams).toBe(2);
  const refused = await send();
  expect([refused.statusCode, refused.json().code]).toEqual([409, "idempotency_key_in_use"]);
  opened.resolve();
  for (const { statusCode } of await Promise.all([first, ...waiting])) expect(statusCode).toBe(200);
  expect((await send()).headers["idempotent-replayed"]).toBe("true");
});

test("an account whose answers take too much may use no more keys for a while", async () => {
  serve(300);
  app.post("/large", { config: { route: routes.createAgent } }, async () => ({ text: "x".repeat(8 * 1024 ** 2) }));
  const large = () => app.inject({ method: "POST", url: "/large", headers: { "idempotency-key": "key" } });
  for (let sent = 0; sent < 32; sent++) expect((await large()).statusCode).toBe(200);
  const refused = await send();
  expect([refused.statusCode, refused.json().code, worked]).toEqual([429, "rate_limited", 0]);
  expect((await app.inject({ method: "POST", url: "/" })).statusCode).toBe(200);
});

test("when the work is given up, one of those that wait does it", async () => {
  remember();
  const opened = Promise.withResolvers<void>();
  gate = opened.promise;
  serve(60_000, 503);
  const first = send();
  await expect.poll(() => worked).toBe(1);
  const second = send();
  await expect.poll(() => streams).toBe(1);
  opened.resolve();
  expect([(await first).statusCode, (await second).statusCode, worked]).toEqual([503, 503, 2]);
});

test("a request that waits too long gets idempotency_key_in_use", async () => {
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

test("a failure is reported even if the claim cannot be released", async () => {
  rows.release = away;
  expect((await post(502)).statusCode).toBe(502);
});
