import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { HookDelivery } from "../../src/contract/automation-hooks.ts";
import type { AutomationRun, AutomationWithSecret } from "../../src/contract/automations.ts";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf, newAccount } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { bearer, github, gitlab, type Sent, send, slack, standard } from "../support/hook-senders.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let database: Database;
let client: TestClient;
/** Each test has an account of its own, with an agent `ada`. */
beforeAll(async () => {
  service = await ScriptedService.start();
  database = await databaseOf(service);
});
beforeEach(async () => {
  client = await newAccount(service);
  await client.createAgent("ada");
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

const slackSecret = "8f742231b10e8888abcd99yyyzzz85a5";
const patient = { timeout: 10_000, interval: 20 };

interface Made {
  url: string;
  secret: string;
}

async function made(verify: string, fields: object = {}, filters?: object[]): Promise<Made> {
  const { status, body } = await client.call("POST", "/automations", {
    name: "hook",
    agent: "ada",
    message: "Look at {{body}}",
    trigger: { type: "hook", verify, ...(filters && { filters }) },
    ...(verify === "slack" && { secret: slackSecret }),
    ...fields,
  });
  expect([status, body]).toEqual([201, body]);
  const { hook, secret } = body as AutomationWithSecret;
  expect(hook).toMatchObject({ secretHint: secret!.slice(-4), earlierSecretUntil: null });
  return { url: hook!.url, secret: secret! };
}

async function list<Row>(path: string): Promise<Row[]> {
  const { status, body } = await client.call("GET", `/automations/hook/${path}?limit=100`);
  expect([status, body]).toEqual([200, body]);
  return body.data;
}
const runs = () => list<AutomationRun>("runs");
const deliveries = () => list<HookDelivery>("deliveries");

/** The runs, newest first, once all have ended. */
async function ended(count: number): Promise<AutomationRun[]> {
  const open = async () => (await runs()).filter(({ finishedAt }) => finishedAt !== null).length;
  await expect.poll(open, patient).toBe(count);
  return runs();
}

/** The text between the marks of a message. */
const fenced = (message: string) => /\n\n.*?<data-(\w+)>(.*)<\/data-\1>/s.exec(message)![2]!;

async function taken(url: string, sent: Sent): Promise<string> {
  const { status, body } = await send(url, sent);
  expect([status, body]).toEqual([202, { result: "run", runId: expect.any(String) }]);
  return body.runId;
}

describe("the record", () => {
  test("has the hook's address, and the secret once", async () => {
    const { url, secret } = await made("github");
    expect(url).toMatch(new RegExp(`^${service.server.url}/hooks/[0-9a-f-]{36}$`));
    const { body } = await client.call("GET", "/automations/hook");
    expect(body).toMatchObject({ hook: { url, secretHint: secret.slice(-4) }, nextRunAt: null });
    expect(JSON.stringify(body)).not.toContain(secret);
    expect((await client.call("GET", "/automations")).body.data).toEqual([body]);
    const { rows } = await sql<{ row: string }>`select automation_hooks::text as row from automation_hooks`.execute(
      database,
    );
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret).toString("hex"));
  });

  test("is refused with what is wrong, and keeps its verification", async () => {
    const trigger = { type: "hook", verify: "github" };
    const refused: [object, string][] = [
      [{ trigger: { type: "hook" } }, "one of standard-webhooks, github"],
      [{ trigger: { ...trigger, verify: "none" } }, "one of standard-webhooks, github"],
      [{ trigger: { ...trigger, cron: "* * * * *" } }, "cron"],
      [{ trigger: { ...trigger, verify: "slack" } }, "secret is required with slack"],
      [{ trigger, secret: "short" }, "16 to 200"],
      [{ trigger: { ...trigger, verify: "standard-webhooks" }, secret: "whsec_too-short-it-is" }, "24 to 64 bytes"],
      [{ trigger: { type: "schedule", at: "2100-01-01T00:00:00Z" }, secret: slackSecret }, "secret requires"],
      [{ trigger, message: "{{#body}}" }, "The template is not mustache"],
      [{ trigger, message: "{{> body}}" }, "partials"],
      [{ trigger: { ...trigger, filters: [{ path: "$..a", exists: true }] } }, "a path begins with $"],
      [{ trigger: { ...trigger, filters: [{ path: "$.a" }] } }, "exactly one of equals, glob, exists"],
      [{ trigger: { ...trigger, filters: [{ exists: true }] } }, "exactly one of path, header"],
      [{ trigger: { ...trigger, filters: Array(11).fill({ path: "$", exists: true }) } }, "up to 10"],
    ];
    for (const [fields, message] of refused) {
      const asked = { name: "hook", agent: "ada", message: "hello", ...fields };
      const { status, body } = await client.call("POST", "/automations", asked);
      expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
    }
    const { url, secret } = await made("github");
    const change = (body: object) => client.call("PATCH", "/automations/hook", body);
    expect((await change({ trigger: { type: "hook", verify: "gitlab" } })).body.message).toContain("github to gitlab");
    expect((await change({ trigger: { type: "schedule", at: "2100-01-01T00:00:00Z" } })).status).toBe(400);
    expect((await change({ message: "{{/body}}" })).status).toBe(400);
    const filters = [{ path: "$.action", equals: "opened" }];
    expect((await change({ trigger: { ...trigger, filters } })).body).toMatchObject({
      trigger: { filters },
      hook: { url },
    });
    expect((await send(url, github(secret, "issues", "1", { action: "closed" }))).body.result).toBe("filtered");
  });

  test("gives its secret once more to a repeated request alone, and so does a rotation", async () => {
    const key = { "idempotency-key": "once" };
    const asked = { name: "hook", agent: "ada", message: "hello", trigger: { type: "hook", verify: "bearer" } };
    const first = await client.call("POST", "/automations", asked, key);
    expect((await client.call("POST", "/automations", asked, key)).body).toEqual(first.body);
    const rotate = () => client.call("POST", "/automations/hook/rotate-secret", {}, { "idempotency-key": "r" });
    const rotated = await rotate();
    expect((await rotate()).body).toEqual(rotated.body);
    expect((await send(first.body.hook.url, bearer(first.body.secret, {}))).status).toBe(202);
  });
});

describe("GitHub", () => {
  test("pings, and delivers as JSON and as a form", async () => {
    const { url, secret } = await made("github", {
      message: "PR {{body.number}}: {{body.pull_request.title}}",
      overlap: "queue",
    });
    expect(
      await send(url, github(secret, "ping", "p-1", { zen: "Keep it logically awesome.", hook_id: 1 })),
    ).toMatchObject({
      status: 202,
      body: { result: "answered", runId: null },
    });
    const payload = { action: "opened", number: 3, pull_request: { title: "Fix <b>it</b> & more" } };
    const first = await taken(url, github(secret, "pull_request", "d-1", payload));
    const second = await taken(url, github(secret, "pull_request", "d-2", payload, true));
    const both = await ended(2);
    expect(both.map(({ id }) => id)).toEqual([second, first]);
    for (const { message, trigger, status, turnId, id, reply } of both) {
      expect({ trigger, status, turnId }).toEqual({ trigger: "hook", status: "completed", turnId: id });
      expect(message).toMatch(/^The text between <data-\w+> and .*\n\nPR 3: <data-\w+>/);
      expect(fenced(message)).toBe("Fix <b>it</b> & more");
      expect(reply).toContain("Fix <b>it</b>");
    }
    expect(await deliveries()).toMatchObject([
      { verdict: "run", event: "pull_request", deliveryId: "d-2", runId: second, reason: null },
      { verdict: "run", event: "pull_request", deliveryId: "d-1", runId: first, body: JSON.stringify(payload) },
      { verdict: "answered", event: "ping", deliveryId: "p-1", runId: null },
    ]);
  });
});

test("GitLab delivers with its token, and repeats with its key", async () => {
  const { url, secret } = await made("gitlab", { message: "{{headers.x-gitlab-event}}{{headers.x-gitlab-token}}" });
  const sent = gitlab(secret, "Push Hook", "f5e57b8b", { object_kind: "push", ref: "refs/heads/main" });
  const runId = await taken(url, sent);
  expect((await send(url, sent)).body).toEqual({ result: "repeated", runId });
  const [run] = await ended(1);
  expect(fenced(run!.message)).toBe("Push Hook");
  const { "idempotency-key": _, ...headers } = sent.headers;
  expect(await taken(url, { ...sent, headers })).not.toBe(runId);
  expect((await deliveries())[0]!.deliveryId).toBe("13792a34-cac6-4fda-95a8-c58e00a3954e");
});

describe("Slack", () => {
  test("verifies the address, and delivers events once", async () => {
    const { url } = await made("slack", { message: "{{body.event.text}} {{body.token}}" });
    const challenge = "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P";
    const verification = { token: "Jhj5dZrVaK7ZwHHjRyZWjbDl", challenge, type: "url_verification" };
    expect(await send(url, slack(slackSecret, verification))).toMatchObject({ status: 200, body: { challenge } });
    const event = { type: "app_mention", text: "<@U1> what broke?", user: "U2" };
    const callback = { type: "event_callback", event_id: "Ev123ABC456", token: "Jhj5dZrVaK7ZwHHjRyZWjbDl", event };
    for (let time = 0; time < 2; time++) {
      expect(await send(url, slack(slackSecret, callback))).toMatchObject({ status: 200, body: {} });
    }
    const [run] = await ended(1);
    expect(fenced(run!.message)).toBe(event.text);
    expect(await deliveries()).toMatchObject([{ event: "app_mention", runId: run!.id }, { verdict: "answered" }]);
    expect((await send(url, slack("another-secret-of-slack", verification))).status).toBe(401);
  });

  test("gets a text for a command that it shows", async () => {
    const { url } = await made("slack", { message: "{{body.text}}" });
    const command = new URLSearchParams({
      command: "/ask",
      text: "hang",
      trigger_id: "13345224609.738474920",
      team_id: "T1",
    });
    const answer = await send(url, slack(slackSecret, command));
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(answer.body).toEqual({ response_type: "ephemeral", text: "The agent has started." });
    await client.call("POST", "/automations/hook/pause");
    command.set("trigger_id", "2");
    expect((await send(url, slack(slackSecret, command))).body.text).toBe("The automation is paused.");
    expect((await send(url, slack(slackSecret, new URLSearchParams({ ssl_check: "1" })))).body).toEqual({});
    expect((await deliveries())[0]).toMatchObject({ verdict: "answered", event: "ssl_check" });
    await ended(1);
  });
});

test("Standard Webhooks deliver with the signature of their package", async () => {
  const { url, secret } = await made("standard-webhooks", { message: "{{delivery.event}}" });
  const runId = await taken(url, standard(secret, "msg_1", { type: "user.created", data: {} }));
  // Each try has its own time and signature.
  expect((await send(url, standard(secret, "msg_1", { type: "user.created", data: {} }))).body).toEqual({
    result: "repeated",
    runId,
  });
  expect(fenced((await ended(1))[0]!.message)).toBe("user.created");
  const late = standard(secret, "msg_2", {}, new Date(Date.now() - 301_000));
  expect(await send(url, late)).toMatchObject({ status: 401, body: { message: expect.stringContaining("5 minutes") } });
});

test("a bearer sends JSON, forms and text, with or without an id", async () => {
  const { url, secret } = await made("bearer", { overlap: "queue" });
  await taken(url, bearer(secret, "disk full\0 on db1"));
  const first = await taken(url, bearer(secret, { a: "b" }, "id"));
  expect((await send(url, bearer(secret, { a: "c" }, "id"))).body).toEqual({ result: "repeated", runId: first });
  const form = bearer(secret, "a=b&c=%C3%BC");
  form.headers["content-type"] = "application/x-www-form-urlencoded; charset=utf-8";
  await taken(url, form);
  const untyped = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: Buffer.from("raw"),
  });
  expect([untyped.status, await untyped.json()]).toEqual([202, { result: "run", runId: expect.any(String) }]);
  const messages = (await ended(4)).map(({ message }) => fenced(message));
  expect(messages).toEqual(["raw", '{"a":"b","c":"ü"}', '{"a":"b"}', "disk full␀ on db1"]);
});

describe("a delivery", () => {
  test("that a filter leaves out starts nothing, and the reason is kept", async () => {
    const filters = [
      { header: "X-GitHub-Event", equals: "pull_request" },
      { path: "$.action", glob: "open*" },
    ];
    const { url, secret } = await made("github", {}, filters);
    expect((await send(url, github(secret, "pull_request", "1", { action: "closed" }))).body).toEqual({
      result: "filtered",
      runId: null,
    });
    expect((await send(url, github(secret, "push", "2", { action: "opened" }))).body.result).toBe("filtered");
    await taken(url, github(secret, "pull_request", "3", { action: "opened" }));
    await ended(1);
    const message = '$.action is "closed"; it must match "open*".';
    expect(await deliveries()).toMatchObject([
      { verdict: "run", filter: { matched: true, message: null } },
      {
        verdict: "filtered",
        filter: { matched: false },
        reason: 'X-GitHub-Event is "push"; it must be "pull_request".',
      },
      { verdict: "filtered", filter: { matched: false, message }, reason: message, runId: null },
    ]);
  });

  test("to a paused automation starts nothing, and can be sent again", async () => {
    const { url, secret } = await made("github", { paused: true });
    expect(await send(url, github(secret, "push", "1", { a: "x" }))).toMatchObject({
      status: 202,
      body: { result: "paused", runId: null },
    });
    const [{ id }] = (await deliveries()) as [HookDelivery];
    const again = (key: string) =>
      client.call("POST", `/automations/hook/deliveries/${id}/send-again`, undefined, { "idempotency-key": key });
    const first = await again("a");
    expect(first).toMatchObject({ status: 201, body: { trigger: "hook" } });
    expect((await again("a")).body.id).toBe(first.body.id);
    const [run] = await ended(1);
    expect([run!.id, fenced(run!.message)]).toEqual([first.body.id, '{"a":"x"}']);
    await client.call("PATCH", "/automations/hook", { message: "New {{body.a}}" });
    expect((await again("b")).body.message).toMatch(/New <data-\w+>x</);
    await ended(2);
    await client.call("POST", "/automations/hook/resume");
    // It was not taken: the same id starts a run now.
    await taken(url, github(secret, "push", "1", { a: "x" }));
    await client.call("DELETE", "/agents/ada");
    expect((await send(url, github(secret, "push", "2", {}))).body).toEqual({ result: "paused", runId: null });
  });

  test("while a run has not ended is treated as `overlap` says", async () => {
    const { url, secret } = await made("bearer", { message: "hang" });
    await taken(url, bearer(secret, {}, "1"));
    await expect.poll(async () => (await runs())[0]!.status, patient).toBe("running");
    const skipped = await send(url, bearer(secret, {}, "2"));
    expect(skipped).toMatchObject({ status: 202, body: { result: "skipped", runId: expect.any(String) } });
    expect((await send(url, bearer(secret, {}, "2"))).body).toEqual({ result: "repeated", runId: skipped.body.runId });
    expect((await deliveries())[0]).toMatchObject({ verdict: "skipped", reason: "The run before had not ended." });
    const [{ id }] = (await deliveries()) as [HookDelivery];
    const again = await client.call("POST", `/automations/hook/deliveries/${id}/send-again`);
    expect([again.status, again.body.code]).toEqual([409, "run_in_progress"]);
    await client.call("PATCH", "/automations/hook", { overlap: "cancel-previous", message: "hello" });
    await taken(url, bearer(secret, {}, "3"));
    expect((await ended(3)).map(({ status }) => status)).toEqual(["completed", "skipped", "replaced"]);
  });

  test("of one id has one run, however many come at once", async () => {
    const { url, secret } = await made("standard-webhooks", { overlap: "queue" });
    const sent = standard(secret, "msg_same", { type: "x" });
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(url, sent)));
    expect(new Set(answers.map(({ body }) => body.runId)).size).toBe(1);
    expect(answers.filter(({ body }) => body.result === "run")).toHaveLength(1);
    await ended(1);
  });

  test("of any id is remembered for four days", async () => {
    const { url, secret } = await made("bearer", { overlap: "queue" });
    const long = "x".repeat(1_000);
    const runId = await taken(url, bearer(secret, {}, long));
    expect((await send(url, bearer(secret, {}, long))).body).toEqual({ result: "repeated", runId });
    expect((await deliveries())[0]!.deliveryId).toMatch(/^[0-9a-f]{64}$/);
    await ended(1);
  });

  test("runs by request without a delivery, with empty values", async () => {
    await made("bearer", { message: "hello{{body.name}}" });
    const { body } = await client.call("POST", "/automations/hook/run");
    expect(body).toMatchObject({ trigger: "manual", message: "hello" });
    await ended(1);
    await client.call("PATCH", "/automations/hook", { message: "{{body.name}}" });
    expect(await client.call("POST", "/automations/hook/run")).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("empty") },
    });
  });
});

describe("a rotation", () => {
  test("leaves the secret before valid for a day", async () => {
    const { url, secret: first } = await made("github", { overlap: "queue" });
    const rotate = async (body = {}) => (await client.call("POST", "/automations/hook/rotate-secret", body)).body;
    const rotated = await rotate();
    const until = Date.parse(rotated.hook.earlierSecretUntil);
    expect(Math.round((until - Date.now()) / 3_600_000)).toBe(24);
    for (const [id, secret] of [first, rotated.secret].entries())
      await taken(url, github(secret, "push", String(id), {}));
    await sql`update automation_hooks set earlier_until = now() where hint = ${rotated.hook.secretHint}`.execute(
      database,
    );
    expect((await send(url, github(first, "push", "3", {}))).status).toBe(401);
    const given = await rotate({ secret: "a-secret-of-the-sender" });
    expect(given.secret).toBe("a-secret-of-the-sender");
    await taken(url, github(given.secret, "push", "4", {}));
    await ended(3);
    expect((await client.call("POST", "/automations/hook/rotate-secret", { secret: "x" })).status).toBe(400);
  });

  test("replaces a secret that cannot be decrypted any more", async () => {
    const { url, secret } = await made("bearer");
    await sql`update automation_hooks set secret = '\\x00' where hint = ${secret.slice(-4)}`.execute(database);
    const refused = await send(url, bearer(secret, {}));
    expect([refused.status, refused.body.message]).toEqual([
      401,
      expect.stringContaining("another secret key: rotate it."),
    ]);
    const { body } = await client.call("POST", "/automations/hook/rotate-secret", {});
    await taken(url, bearer(body.secret, {}));
    await ended(1);
  });

  test("needs a hook", async () => {
    const trigger = { type: "schedule", at: "2100-01-01T00:00:00Z" };
    await client.call("POST", "/automations", { name: "hook", agent: "ada", message: "hello", trigger });
    expect((await client.call("POST", "/automations/hook/rotate-secret", {})).body.message).toBe(
      "The automation has no hook.",
    );
    expect(await deliveries()).toEqual([]);
  });
});
