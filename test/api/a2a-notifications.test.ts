import { randomUUID } from "node:crypto";
import { StreamResponse, type Task, TaskPushNotificationConfig, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { maximumOfAccount, maximumOfTask, NotificationStore } from "../../src/protocols/a2a/notification-store.ts";
import type { WebhookStore } from "../../src/webhooks/store.ts";
import { connectA2a, request } from "../support/a2a.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { signIn, useLink } from "../support/sign-in.ts";
import { type Received, WebhookReceiver } from "../support/webhook-receiver.ts";

// Push notifications of A2A: the official client sets them, and an HTTPS receiver gets them.

let receiver: WebhookReceiver;
let service: ScriptedService;
let owner: TestClient;
let database: Database;
let client: Client;

const patient = { timeout: 20_000 };

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  service = await ScriptedService.start({ webhooksInside: [receiver.authorityText] });
  owner = service.client;
  database = await databaseOf(service);
  await owner.createAgent("ada");
  await owner.createAgent("asking", { permissions: { execute: "ask" } });
  client = await connectA2a("ada", owner);
});
afterAll(async () => {
  await database?.destroy();
  await service?.[Symbol.asyncDispose]();
  receiver?.[Symbol.dispose]();
});

function configOf(path: string, fields: object = {}): TaskPushNotificationConfig {
  return TaskPushNotificationConfig.fromJSON({ url: receiver.url(path), ...fields });
}

/** Sends a message whose task is notified of. */
async function send(to: Client, text: string, config: TaskPushNotificationConfig, fields = {}): Promise<Task> {
  const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: config, returnImmediately: true };
  return (await to.sendMessage({ ...request(text, fields), configuration })) as Task;
}

function taskIn({ body }: Received): Task {
  const { payload } = StreamResponse.fromJSON(JSON.parse(body));
  if (payload?.$case !== "task") throw new Error(`not a task: ${body}`);
  return payload.value;
}

const statesAt = (path: string) => receiver.at(path).map((each) => taskIn(each).status?.state);

/** Makes what waits due now. */
async function due(): Promise<void> {
  await sql`update webhook_deliveries set next_try_at = now() where status = 'pending'`.execute(database);
}

/** The configurations of a task in the database. */
async function stored(taskId: string): Promise<{ id: string; url: string; secret: Buffer }[]> {
  return database.selectFrom("webhooks").select(["id", "url", "secret"]).where("turn_id", "=", taskId).execute();
}

const asked = (taskId: string, id = "") => ({ tenant: "", taskId, id });
const listed = async (by: Client, taskId: string) =>
  (await by.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 0, pageToken: "" })).configs;

/** A task that runs until it is cancelled. */
async function hanging(by = client): Promise<Task> {
  const later = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true };
  return (await by.sendMessage({ ...request("hang"), configuration: later })) as Task;
}

const cancel = (id: string, by = client) => by.cancelTask({ tenant: "", id, metadata: undefined });

describe("a task", () => {
  test("is sent to the address of its message when it ends, with the token and the credentials", async () => {
    const authentication = { scheme: "Bearer", credentials: "secret-of-the-receiver" };
    const task = await send(client, "hello there", configOf("/done", { token: "its-token", authentication }));
    await expect.poll(() => statesAt("/done"), patient).toContain(TaskState.TASK_STATE_COMPLETED);
    const [received] = receiver.at("/done") as [Received];
    expect(received.headers).toMatchObject({
      "content-type": "application/a2a+json",
      "a2a-version": "1.0",
      "x-a2a-notification-token": "its-token",
      authorization: "Bearer secret-of-the-receiver",
      "webhook-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(received.headers).not.toHaveProperty("webhook-signature");
    expect(taskIn(received)).toEqual(await client.getTask({ tenant: "", id: task.id }));
    const [row] = await stored(task.id);
    expect(row!.secret.toString("latin1")).not.toContain("secret-of-the-receiver");
  });

  test("is sent when it waits for an approval, continues and ends", async () => {
    const asking = await connectA2a("asking", owner);
    const task = await send(asking, "use execute make", configOf("/asks"));
    await expect.poll(() => statesAt("/asks"), patient).toEqual([TaskState.TASK_STATE_INPUT_REQUIRED]);
    await asking.sendMessage(request("allow", { taskId: task.id }));
    await expect.poll(() => statesAt("/asks").at(-1), patient).toBe(TaskState.TASK_STATE_COMPLETED);
    // Those of its context and of the message are the same task.
    expect(new Set(receiver.at("/asks").map((each) => taskIn(each).id))).toEqual(new Set([task.id]));
  });

  test("is sent when it fails and when it is cancelled", async () => {
    await send(client, "crash", configOf("/fails"));
    await expect.poll(() => statesAt("/fails"), patient).toEqual([TaskState.TASK_STATE_FAILED]);
    const task = await send(client, "hang", configOf("/cancelled"));
    await cancel(task.id);
    await expect.poll(() => statesAt("/cancelled"), patient).toEqual([TaskState.TASK_STATE_CANCELED]);
  });

  test("that has ended is sent once to an address that is set later", async () => {
    const { id } = (await client.sendMessage(request("done before"))) as Task;
    const made = await client.createTaskPushNotificationConfig(configOf("/late", { taskId: id, id: "late" }));
    await client.createTaskPushNotificationConfig(configOf("/late", { taskId: id, id: "late" }));
    expect(made).toMatchObject({ taskId: id, id: "late", url: receiver.url("/late") });
    await expect.poll(() => statesAt("/late"), patient).toEqual([TaskState.TASK_STATE_COMPLETED]);
    expect(await listed(client, id)).toHaveLength(1);
  });

  test("of a message that is sent again has one configuration", async () => {
    const [first, again] = [
      await send(client, "twice", configOf("/twice"), { messageId: "twice" }),
      await send(client, "twice", configOf("/twice"), { messageId: "twice" }),
    ];
    expect(again.id).toBe(first.id);
    expect(await listed(client, first.id)).toMatchObject([{ id: first.id, taskId: first.id }]);
    await expect.poll(() => statesAt("/twice"), patient).toContain(TaskState.TASK_STATE_COMPLETED);
  });
});

describe("a configuration", () => {
  test("is set, read, replaced, listed and deleted, without its secrets", async () => {
    const { id: taskId } = await hanging();
    const secrets = { token: "token", authentication: { scheme: "Basic", credentials: "dTpw" } };
    const made = await client.createTaskPushNotificationConfig(configOf("/one", { taskId, ...secrets }));
    expect(made).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), token: "", authentication: undefined });
    await client.createTaskPushNotificationConfig(configOf("/two", { taskId, id: "two" }));
    await client.createTaskPushNotificationConfig(configOf("/second", { taskId, id: "two" }));
    expect(await client.getTaskPushNotificationConfig(asked(taskId, made.id))).toEqual(made);
    expect((await listed(client, taskId)).map(({ url }) => url)).toEqual([
      receiver.url("/one"),
      receiver.url("/second"),
    ]);
    await client.deleteTaskPushNotificationConfig(asked(taskId, "two"));
    await client.deleteTaskPushNotificationConfig(asked(taskId, "two"));
    await expect(client.getTaskPushNotificationConfig(asked(taskId, "two"))).rejects.toThrow("no push notification");
    await cancel(taskId);
    await expect.poll(() => statesAt("/one"), patient).toEqual([TaskState.TASK_STATE_CANCELED]);
    expect([receiver.at("/two"), receiver.at("/second")]).toEqual([[], []]);
    const { body } = await owner.call("GET", "/audit?limit=20");
    expect(body.data).toContainEqual(expect.objectContaining({ operation: "POST /agents/{name}/a2a", agent: "ada" }));
    expect(JSON.stringify(body)).not.toContain("dTpw");
  });

  test.each([
    ["an address without TLS", { url: "http://example.com/" }, "Only https"],
    ["a metadata address", { url: "https://169.254.169.254/" }, "public internet"],
    ["a mapped address", { url: "https://[::ffff:127.0.0.1]/" }, "public internet"],
    ["a decimal address", { url: "https://2130706433/" }, "public internet"],
    ["an address of NAT64", { url: "https://[64:ff9b::7f00:1]/" }, "public internet"],
    ["no address", { url: "" }, "An address is https"],
    ["a long address", { url: `https://example.com/${"a".repeat(2_048)}` }, "url"],
    ["a long id", { id: "x".repeat(129) }, "id"],
    ["a token with a line break", { token: "a\r\nhost: evil" }, "token"],
    ["a long token", { token: "x".repeat(4_097) }, "token"],
    [
      "credentials with a line break",
      { authentication: { scheme: "Bearer", credentials: "a\r\nx: y" } },
      "credentials",
    ],
    ["a scheme with a space", { authentication: { scheme: "Bearer x", credentials: "a" } }, "scheme"],
    ["a scheme without credentials", { authentication: { scheme: "Bearer" } }, "credentials are required"],
  ])("with %s is refused", async (_, fields, message) => {
    const given = configOf("/refused", fields);
    const { id: taskId } = (await client.sendMessage(request("hello"))) as Task;
    await expect(client.createTaskPushNotificationConfig({ ...given, taskId })).rejects.toThrow(message);
    const { totalSize: before } = await tasks();
    await expect(send(client, "not begun", given)).rejects.toThrow(message);
    expect((await tasks()).totalSize).toBe(before);
  });

  const tasks = () =>
    client.listTasks({
      ...{ tenant: "", contextId: "", status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: "" },
      statusTimestampAfter: undefined,
    });

  test("is refused beyond a task's and an account's limit", async () => {
    const { id: taskId } = (await client.sendMessage(request("many"))) as Task;
    const set = (id: string) => client.createTaskPushNotificationConfig(configOf("/many", { taskId, id }));
    for (let number = 0; number < maximumOfTask; number++) await set(`${number}`);
    await expect(set("another")).rejects.toThrow(`too_many_webhooks: A task can have up to ${maximumOfTask}`);
    await set("1");
    const { id: otherId } = (await client.sendMessage(request("one more"))) as Task;
    const [first] = await stored(taskId);
    await sql`
      insert into webhooks (id, account_id, url, include, secret, turn_id, push_id)
      select gen_random_uuid(), account_id, url, include, secret, ${otherId}, 'x' || n
      from webhooks, generate_series(1, ${maximumOfAccount}) n where webhooks.id = ${first!.id}`.execute(database);
    const { id: last } = (await client.sendMessage(request("the last"))) as Task;
    const refused = client.createTaskPushNotificationConfig(configOf("/many", { taskId: last }));
    await expect(refused).rejects.toThrow(`up to ${maximumOfAccount}`);
    // They do not count as the workspace's webhooks, and are not among them.
    expect((await owner.call("POST", "/webhooks", { url: receiver.url("/own") })).status).toBe(201);
    expect((await owner.call("GET", "/webhooks")).body.data).toHaveLength(1);
    await sql`delete from webhooks where turn_id = ${otherId} or turn_id is null`.execute(database);
  });

  test("is no webhook of the workspace", async () => {
    const { id: taskId } = await hanging();
    await client.createTaskPushNotificationConfig(configOf("/apart", { taskId }));
    const [{ id }] = (await stored(taskId)) as [{ id: string; url: string; secret: Buffer }];
    for (const [method, path, body] of [
      ["GET", ""],
      ["PATCH", "", { disabled: true }],
      ["DELETE", ""],
      ["GET", "/deliveries"],
      ["POST", "/rotate"],
      ["POST", "/test"],
    ] as const)
      expect((await owner.call(method, `/webhooks/${id}${path}`, body)).body.code).toBe("webhook_not_found");
    await cancel(taskId);
    await expect.poll(() => statesAt("/apart"), patient).toHaveLength(1);
  });

  test("of another caller of the same task is not seen or replaced", async () => {
    const key = await newKey(owner, { kind: "agent", agents: ["ada"] });
    const external = await connectA2a("ada", key);
    const task = await hanging(external);
    const set = (by: Client, path: string) =>
      by.createTaskPushNotificationConfig(configOf(path, { taskId: task.id, id: "same" }));
    await set(external, "/external");
    await set(client, "/of-owner");
    expect(await listed(external, task.id)).toMatchObject([{ url: receiver.url("/external") }]);
    expect(await listed(client, task.id)).toMatchObject([{ url: receiver.url("/of-owner") }]);
    await external.deleteTaskPushNotificationConfig(asked(task.id, "same"));
    expect(await listed(client, task.id)).toHaveLength(1);
    await cancel(task.id);
    await expect.poll(() => statesAt("/of-owner"), patient).toHaveLength(1);
    expect(receiver.at("/external")).toEqual([]);
  });

  test("of a task that the caller may not read is refused", async () => {
    const { turnId } = await owner.chat("ada", "of the owner");
    const external = await connectA2a("ada", await newKey(owner, { kind: "agent", agents: ["ada"] }));
    const config = configOf("/foreign", { taskId: turnId });
    await expect(external.createTaskPushNotificationConfig(config)).rejects.toThrow("forbidden");
    await expect(listed(external, turnId)).rejects.toThrow("forbidden");
    const stranger = await newAccount(service);
    await stranger.createAgent("ada");
    const strange = await connectA2a("ada", stranger);
    await expect(strange.createTaskPushNotificationConfig(config)).rejects.toThrow("no turn");
    await expect(client.createTaskPushNotificationConfig({ ...config, taskId: "x" })).rejects.toThrow("no turn");
    expect(receiver.at("/foreign")).toEqual([]);
  });
});

describe("a caller that may not read the task any more", () => {
  test("is not notified once its key is revoked", async () => {
    const made = (await owner.call("POST", "/keys", { kind: "agent", agents: ["ada"] })).body;
    const external = await connectA2a("ada", new TestClient(owner.url, made.key));
    const task = await hanging(external);
    await external.createTaskPushNotificationConfig(configOf("/revoked", { taskId: task.id }));
    expect((await owner.call("DELETE", `/keys/${made.id}`)).status).toBe(204);
    await cancel(task.id);
    await expect.poll(() => stored(task.id), patient).toEqual([]);
    expect(receiver.at("/revoked")).toEqual([]);
  });

  test("is not notified once the agent is private", async () => {
    const { url } = owner;
    await useLink(service.server.firstSignIn!, "correct horse battery", "olga");
    const olga = new TestClient(url, (await signIn(url, "olga", "correct horse battery")).access_token);
    await olga.createAgent("diary");
    const [hers, ours] = [await connectA2a("diary", olga), await connectA2a("diary", owner)];
    const task = await hanging(ours);
    for (const [by, path] of [
      [hers, "/diary-hers"],
      [ours, "/diary-ours"],
    ] as const)
      await by.createTaskPushNotificationConfig(configOf(path, { taskId: task.id }));
    expect((await olga.call("PATCH", "/agents/diary", { private: true })).status).toBe(200);
    await cancel(task.id, hers);
    await expect.poll(() => statesAt("/diary-hers"), patient).toHaveLength(1);
    await expect
      .poll(async () => (await stored(task.id)).map(({ url }) => url), patient)
      .toEqual([receiver.url("/diary-hers")]);
    expect(receiver.at("/diary-ours")).toEqual([]);
  });
});

describe("a failed notification", () => {
  test("is sent again with the same id, and stops at 410 without an event", async () => {
    receiver.answer = (_, response) => response.writeHead(500).end();
    const task = await send(client, "not taken", configOf("/failing"));
    await expect.poll(() => receiver.at("/failing").length, patient).toBe(1);
    receiver.answer = (_, response) => response.writeHead(410).end();
    await expect
      .poll(async () => {
        await due();
        return receiver.at("/failing").length;
      }, patient)
      .toBe(2);
    const [first, second] = receiver.at("/failing").map(({ headers }) => headers["webhook-id"]);
    expect(second).toBe(first);
    const isDisabled = async () => {
      const { rows } = await sql<{ disabled: boolean }>`
        select disabled from webhooks where turn_id = ${task.id}`.execute(database);
      return rows[0]!.disabled;
    };
    await expect.poll(isDisabled, patient).toBe(true);
    const { rows } = await sql`select from account_events where event ->> 'type' = 'webhook.disabled'`.execute(
      database,
    );
    expect(rows).toEqual([]);
    receiver.answer = (_, response) => response.writeHead(204).end();
    // Setting it again begins again.
    await client.createTaskPushNotificationConfig(configOf("/failing", { taskId: task.id, id: task.id }));
    expect(await isDisabled()).toBe(false);
  });
});

test("receivers of notifications that hang delay no webhook of the workspace", async () => {
  const held: (() => void)[] = [];
  receiver.answer = (request, response) => {
    const answer = () => response.writeHead(204).end();
    if (request.url === "/hangs") held.push(answer);
    else answer();
  };
  const { id: taskId } = (await client.sendMessage(request("ended"))) as Task;
  const set = (id: string) => client.createTaskPushNotificationConfig(configOf("/hangs", { taskId, id }));
  for (let number = 0; number < maximumOfTask; number++) await set(`${number}`);
  await expect.poll(() => held.length, patient).toBe(8);
  const { body } = await owner.call("POST", "/webhooks", { url: receiver.url("/quick"), events: ["credits.low"] });
  await owner.call("POST", `/webhooks/${body.id}/test`);
  await expect.poll(() => receiver.at("/quick").length, patient).toBe(1);
  const { rows } = await sql`
    select from webhook_deliveries join webhooks on webhooks.id = webhook_id
    where turn_id = ${taskId} and attempts > 0`.execute(database);
  expect(rows).toEqual([]);
  for (const answer of held.splice(0)) answer();
  receiver.answer = (_, response) => response.writeHead(204).end();
  await owner.call("DELETE", `/webhooks/${body.id}`);
});

describe("configurations", () => {
  test("go with their agent", async () => {
    await owner.createAgent("gone");
    const task = (await (await connectA2a("gone", owner)).sendMessage(request("hello"))) as Task;
    await (await connectA2a("gone", owner)).createTaskPushNotificationConfig(configOf("/gone", { taskId: task.id }));
    expect(await stored(task.id)).toHaveLength(1);
    await owner.call("DELETE", "/agents/gone");
    await expect.poll(() => stored(task.id), patient).toEqual([]);
  });

  test("are removed an hour after the task's end, once nothing waits", async () => {
    const task = await send(client, "old", configOf("/old"));
    await expect.poll(() => statesAt("/old"), patient).toHaveLength(1);
    const store = new NotificationStore(database, {} as WebhookStore);
    await store.removeEnded();
    expect(await stored(task.id)).toHaveLength(1);
    await sql`update turns set finished_at = now() - interval '2 hours' where id = ${task.id}`.execute(database);
    await sql`update webhooks set created_at = now() - interval '2 hours' where turn_id = ${task.id}`.execute(database);
    const waiting = { id: randomUUID(), webhook_id: (await stored(task.id))[0]!.id, type: "task.completed", lane: "" };
    const later = new Date(Date.now() + 3_600_000);
    await database
      .insertInto("webhook_deliveries")
      .values({ ...waiting, data: "{}", next_try_at: later })
      .execute();
    await store.removeEnded();
    expect(await stored(task.id)).toHaveLength(1);
    await sql`delete from webhook_deliveries where id = ${waiting.id}`.execute(database);
    await expect
      .poll(async () => {
        await store.removeEnded();
        return stored(task.id);
      }, patient)
      .toEqual([]);
  });
});
