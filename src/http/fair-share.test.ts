import { randomUUID } from "node:crypto";
import fastify from "fastify";
import { beforeEach, expect, test } from "vitest";
import { handleError } from "./errors.ts";
import { FairStarts } from "./fair-share.ts";

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
    await starts.wait(request, reply);
    const credential = request.headers.authorization!;
    const [accountId] = credential.split(" ");
    starts.learn(credential, accountId!);
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
