import { randomUUID } from "node:crypto";
import fastify from "fastify";
import { beforeEach, expect, test } from "vitest";
import { BerthError } from "../../contract/errors.ts";
import { routes } from "../../contract/routes.ts";
import type { Caller } from "./caller.ts";
import { handleError } from "./errors.ts";
import { FairStarts, limitReads } from "./fair-share.ts";

/** The credentials whose requests have begun, in this order. */
let begun: string[];
let answer: PromiseWithResolvers<void>;
let ask: (credential: string, remoteAddress?: string) => Promise<{ statusCode: number; json: () => { code: string } }>;

beforeEach(() => {
  begun = [];
  answer = Promise.withResolvers();
  const starts = new FairStarts();
  const app = fastify();
  app.setErrorHandler(handleError);
  app.addHook("onRequest", async (request, reply) => {
    const [accountId] = request.headers.authorization!.split(" ");
    await starts.admit(request, reply, async () => {
      if (accountId === "wrong") throw new BerthError("credentials_invalid", "The key is not valid.");
      return { accountId } as Caller;
    });
  });
  app.get("/", async ({ headers }) => {
    begun.push(headers.authorization!);
    await answer.promise;
    return {};
  });
  ask = (authorization, remoteAddress = randomUUID()) =>
    app.inject({ url: "/", headers: { authorization }, remoteAddress });
});

/** Has the credentials remembered. */
async function known(...credentials: string[]): Promise<void> {
  answer.resolve();
  for (const credential of credentials) await ask(credential);
  answer = Promise.withResolvers();
  begun = [];
}

test("an account's many requests, with all its keys, begin after another account's one", async () => {
  await known("busy 1", "busy 2", "other");
  const many = Array.from({ length: 200 }, (_, index) => ask(`busy ${1 + (index % 2)}`));
  const one = ask("other");
  await expect.poll(() => begun).toContain("other");
  expect(begun.length).toBeLessThan(50);
  answer.resolve();
  const answers = await Promise.all([...many, one]);
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
});

test("requests with unknown credentials wait for others of their address", async () => {
  await known("other");
  const many = Array.from({ length: 200 }, (_, index) => ask(`unknown-${index}`, "203.0.113.9"));
  const one = ask("other", "203.0.113.9");
  await expect.poll(() => begun).toContain("other");
  expect(begun.length).toBeLessThan(50);
  answer.resolve();
  await Promise.all([...many, one]);
});

test("a wrong key that is repeated does not hold up new keys of the same address", async () => {
  answer.resolve();
  const many = Array.from({ length: 600 }, () => ask("wrong", "203.0.113.9"));
  expect((await ask("new", "203.0.113.9")).statusCode).toBe(200);
  const statuses = (await Promise.all(many)).map(({ statusCode }) => statusCode);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
});

test("an account's requests that are not answered for long do not stop its others", async () => {
  await known("busy");
  const many = Array.from({ length: 30 }, () => ask("busy"));
  await expect.poll(() => begun.length).toBe(30);
  answer.resolve();
  await Promise.all(many);
});

test("requests beyond those that may wait are refused, and the account's next one is not", async () => {
  await known("busy");
  const answers = Promise.all(Array.from({ length: 700 }, () => ask("busy")));
  answer.resolve();
  const refused = (await answers).filter(({ statusCode }) => statusCode !== 200);
  expect(refused.length).toBeGreaterThan(100);
  expect(refused[0]!.statusCode).toBe(429);
  expect(refused[0]!.json()).toMatchObject({ code: "too_many_requests" });
  expect((await ask("busy")).statusCode).toBe(200);
});

test("of an account's reads four are answered at once and a hundred wait; further ones are refused", async () => {
  const reads = Promise.withResolvers<void>();
  let running = 0;
  const app = fastify();
  app.setErrorHandler(handleError);
  app.addHook("onRequest", async (request) => {
    request.caller = { accountId: "busy" } as Caller;
  });
  limitReads(app);
  app.get("/", { config: { route: routes.listAgents } }, async () => {
    running++;
    await reads.promise;
    return {};
  });
  const answers = Array.from({ length: 105 }, () => app.inject({ url: "/" }));
  const refused = await Promise.race(answers);
  expect([refused.statusCode, refused.json().code, running]).toEqual([429, "too_many_requests", 4]);
  reads.resolve();
  const statuses = (await Promise.all(answers)).map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 200)).toHaveLength(104);
});
