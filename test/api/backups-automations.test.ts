import { createReadStream } from "node:fs";
import { chmod, mkdtempDisposable, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { StreamResponse } from "@a2a-js/sdk";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readKey, restoreBackup } from "../../src/backup/restore.ts";
import type { AutomationRun } from "../../src/contract/automations.ts";
import type { Webhook, WebhookDelivery } from "../../src/contract/webhooks.ts";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { folderPrefix } from "../support/config.ts";
import { send, standard } from "../support/hook-senders.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

// A backup of an installation with hooks, schedules, webhooks and push notifications, and what a restored server does.

let receiver: WebhookReceiver;
let service: ScriptedService;
let folder: Awaited<ReturnType<typeof newFolder>>;
let file: string;
let hook: { path: string; secret: string };
let firstRun: string;
let webhook: Webhook & { secret: string };
let waiting: WebhookDelivery;
let taskId: string;
let key: string;

const patient = { timeout: 20_000 };

/** One that the users of machines and of the database can pass through. */
async function newFolder() {
  const made = await mkdtempDisposable(`${folderPrefix}backup-`);
  await chmod(made.path, 0o711);
  return made;
}

async function made(client: TestClient, path: string, body: object) {
  const answer = await client.call("POST", path, body);
  expect([answer.status, answer.body]).toEqual([201, answer.body]);
  return answer.body;
}

const ids = (path: string) => receiver.at(path).map(({ headers }) => headers["webhook-id"]);

async function runsOf(client: TestClient, name: string): Promise<AutomationRun[]> {
  return (await client.call("GET", `/automations/${name}/runs`)).body.data;
}

/** The statuses of the deliveries with their tries, oldest first. */
async function triesOf(dataFolder: string): Promise<string[]> {
  const database = await databaseOf({ config: { ...service.config, dataFolder } });
  const { rows } = await sql<{ is: string }>`
    select status || ' ' || attempts as is from webhook_deliveries order by number`.execute(database);
  await database.destroy();
  return rows.map(({ is }) => is);
}

/** A folder with the backup, an hour later. */
async function restored(secretKey: Parameters<typeof restoreBackup>[1]["secretKey"]) {
  const other = await newFolder();
  const dataFolder = join(other.path, "data");
  await restoreBackup(createReadStream(file), {
    config: { dataFolder, databaseUrl: null },
    secretKey,
    doing: () => {},
  });
  await chmod(dataFolder, 0o711);
  const database = await databaseOf({ config: { ...service.config, dataFolder } });
  const then = sql<Date>`now() - interval '1 hour'`;
  await database.updateTable("webhook_deliveries").set({ next_try_at: then }).execute();
  await database
    .updateTable("automations")
    .set({ next_run_at: then, next_base_at: then })
    .where("name", "in", ["once", "skip"])
    .execute();
  await database.destroy();
  return { dataFolder, [Symbol.asyncDispose]: () => other[Symbol.asyncDispose]() };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(50);
}

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  folder = await newFolder();
  file = join(folder.path, "backup.tar");
  service = await ScriptedService.start({ webhooksInside: [receiver.authorityText] });
  const { client, config } = service;
  await client.createAgent("ada");
  const ofAda = { agent: "ada", message: "hello" };
  const yearly = { type: "schedule", cron: "0 0 1 1 *", timeZone: "UTC" };
  for (const missed of ["once", "skip"])
    await made(client, "/automations", { ...ofAda, name: missed, missed, trigger: yearly });
  const trigger = { type: "hook", verify: "standard-webhooks" };
  const hooked = await made(client, "/automations", { ...ofAda, name: "hook", trigger });
  hook = { path: new URL(hooked.hook.url).pathname, secret: hooked.secret };
  firstRun = (await send(client.url + hook.path, standard(hook.secret, "the-first", {}))).body.runId;
  await until(async () => (await runsOf(client, "hook"))[0]?.status === "completed");
  webhook = await made(client, "/webhooks", { url: receiver.url("/events"), events: ["credits.low"] });
  await client.call("POST", `/webhooks/${webhook.id}/test`);
  await until(async () => isDeepStrictEqual(await triesOf(config.dataFolder), ["delivered 1"]));
  receiver.answer = (_, response) => response.writeHead(500).end();
  await client.call("POST", `/webhooks/${webhook.id}/test`);
  await until(async () => isDeepStrictEqual(await triesOf(config.dataFolder), ["delivered 1", "pending 1"]));
  const configuration = { taskPushNotificationConfig: { url: receiver.url("/task"), token: "its-token" } };
  const message = { messageId: "the-task", role: "ROLE_USER", parts: [{ text: "of a task" }] };
  const call = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message, configuration } };
  taskId = (await client.call("POST", "/agents/ada/a2a", call, { "a2a-version": "1.0" })).body.result.task.id;
  await until(async () =>
    isDeepStrictEqual(await triesOf(config.dataFolder), ["delivered 1", "pending 1", "pending 1"]),
  );
  const { body } = await client.call("POST", "/admin/backups");
  await writeFile(file, (await client.fetch("GET", `/admin/backups/${body.id}`)).body!);
  [waiting] = (await client.call("GET", `/webhooks/${webhook.id}/deliveries`)).body.data;
  key = await readKey(join(config.dataFolder, "secret.key"));
  // It would send what waits itself.
  await service[Symbol.asyncDispose]();
});
afterAll(async () => {
  await folder?.[Symbol.asyncDispose]();
  receiver?.[Symbol.dispose]();
});

beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer = (_, response) => response.writeHead(204).end();
});

test("with its secret key, a restored server continues with hooks, schedules and webhooks", async () => {
  await using other = await restored({ key, toKeep: true });
  const { dataFolder } = other;
  await using again = await ScriptedService.start({ dataFolder, webhooksInside: [receiver.authorityText] });
  const { client } = again;
  // Those that waited are sent, with their secrets. The one that had arrived is not.
  await expect.poll(() => triesOf(dataFolder), patient).toEqual(["delivered 1", "delivered 2", "delivered 2"]);
  expect(ids("/events")).toEqual([waiting.id]);
  expect(receiver.events("/events", webhook.secret)).toMatchObject([{ type: "webhook.test" }]);
  const [notified] = receiver.at("/task");
  expect(notified!.headers["x-a2a-notification-token"]).toBe("its-token");
  const { payload } = StreamResponse.fromJSON(JSON.parse(notified!.body));
  expect(payload).toMatchObject({ $case: "task", value: { id: taskId } });
  // A hour passed: one run, or none.
  await expect.poll(async () => (await runsOf(client, "once"))[0]?.status, patient).toBe("completed");
  expect(await runsOf(client, "once")).toHaveLength(1);
  expect(await runsOf(client, "skip")).toMatchObject([{ status: "skipped", reason: { code: "missed" } }]);
  // The sender has the same secret, and repeats a delivery that was taken.
  const deliver = (id: string) => send(client.url + hook.path, standard(hook.secret, id, {}));
  expect((await deliver("the-first")).body).toEqual({ result: "repeated", runId: firstRun });
  expect((await deliver("another")).body).toMatchObject({ result: "run" });
  await expect.poll(async () => (await runsOf(client, "hook"))[0]?.status, patient).toBe("completed");
  expect(await runsOf(client, "hook")).toHaveLength(2);
});

test("without its secret key, hooks and webhooks say that their secrets are gone", async () => {
  await using other = await restored("none");
  const { dataFolder } = other;
  await using again = await ScriptedService.start({ dataFolder, webhooksInside: [receiver.authorityText] });
  const { client } = again;
  await expect.poll(() => triesOf(dataFolder), patient).toEqual(["delivered 1", "failed 2", "failed 2"]);
  expect(receiver.received).toEqual([]);
  const { body } = await client.call("GET", `/webhooks/${webhook.id}`);
  expect(body).toMatchObject({ disabled: true, disabledReason: { code: "secret_unreadable" } });
  const refused = await send(client.url + hook.path, standard(hook.secret, "another", {}));
  expect([refused.status, refused.body.message]).toEqual([401, expect.stringContaining("rotate it")]);
  await expect.poll(async () => (await runsOf(client, "once"))[0]?.status, patient).toBe("completed");
});
