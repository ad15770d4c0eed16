import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AutomationRun } from "../../src/contract/automations.ts";
import type { Database } from "../../src/core/database/database.ts";
import { InboxStore } from "../../src/inbox/store.ts";
import { databaseOf } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { bearer, github, type Sent, send, slack } from "../support/hook-senders.ts";
import { headerOf, MailServer, partsOf } from "../support/mail-server.ts";
import { ended } from "../support/scripted-api.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { signIn, useLink } from "../support/sign-in.ts";

// The recipes of docs/automations.md, as they are written there, with the real tool and service.

const repository = fileURLToPath(new URL("../..", import.meta.url));
const patient = { timeout: 30_000 };
const signingSecret = "8f742231b10e8888abcd99yyyzzz85a5";

let mail: MailServer;
let service: ScriptedService;
let database: Database;
let recipes: Map<string, string>;
beforeAll(async () => {
  mail = await MailServer.start();
  service = await ScriptedService.start({ mail: mail.config() });
  database = await databaseOf(service);
  await service.client.createAgent("ada");
  await service.client.call("PUT", "/agents/ada/secrets/GH_TOKEN", { value: "t", hosts: ["api.github.com"] });
  const page = await readFile(`${repository}/docs/automations.md`, "utf8");
  const blocks = page
    .split("## Recipes")[1]!
    .split("## The API")[0]!
    .matchAll(/```\n(.*?)```/gs);
  recipes = new Map([...blocks].map(([, command]) => [/create (\S+)/.exec(command!)![1]!, command!]));
});
afterAll(async () => {
  await database?.destroy();
  await service?.[Symbol.asyncDispose]();
  await mail?.[Symbol.asyncDispose]();
});

/** Runs a recipe's command in a shell. Returns what it prints. */
async function create(name: string, { url, key } = service.client): Promise<string> {
  const path = `${repository}:${dirname(process.execPath)}:${process.env.PATH}`;
  const child = spawn("sh", ["-c", recipes.get(name)!], {
    env: { PATH: path, TZ: "UTC", BERTH_URL: url, BERTH_API_KEY: key },
  });
  child.stdin.end(signingSecret);
  const { code, stdout, stderr } = await ended(child);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`Created ${name}.`)]);
  return stdout;
}

/** The automation's only run, once it has ended. */
async function runOf(name: string, client = service.client): Promise<AutomationRun> {
  const read = async () => (await client.call("GET", `/automations/${name}/runs`)).body.data;
  const statusOf = async () => (await read()).map(({ status }: AutomationRun) => status);
  await expect.poll(statusOf, patient).toEqual(["completed"]);
  return (await read())[0];
}

/** Creates the recipe's hook, and delivers to it what `sent` signs with its secret. */
async function delivered(name: string, sent: (secret: string) => Sent): Promise<AutomationRun> {
  const [, address, secret] = /^address +(\S+)\nsecret +(\S+)\n$/.exec(await create(name))!;
  expect((await send(address!, sent(secret!))).status).toBeLessThan(300);
  return runOf(name);
}

const plain = (message: string) =>
  message
    .split("\n\n")
    .slice(1)
    .join("\n\n")
    .replaceAll(/<\/?data-\w+>/g, "|");

test("the page has the recipes of this file", () => {
  expect([...recipes.keys()]).toEqual(["dependencies", "report", "remind", "review", "triage", "ask"]);
});

test.each(["dependencies", "remind"])("%s runs", async (name) => {
  await create(name);
  expect((await service.client.call("POST", `/automations/${name}/run`)).status).toBe(201);
  expect((await runOf(name)).trigger).toBe("manual");
});

test("report runs, and its reply arrives by mail", async () => {
  const [name, password, email] = ["olga", "a long password of olga", "olga@example.com"];
  await useLink((await service.client.call("POST", "/admin/users", { name })).body.link, password);
  const olga = new TestClient(service.client.url, (await signIn(service.client.url, name, password)).access_token);
  await olga.createAgent("ada");
  await olga.call("PATCH", "/me/profile", { email });
  const token = /#([\w-]+)/.exec(partsOf(mail.to(email)[0]!.raw).text)![1]!;
  expect((await olga.call("POST", "/me/profile/verify-email", { token })).status).toBe(200);
  await create("report", olga);
  await olga.call("POST", "/automations/report/run");
  const { reply } = await runOf("report", olga);
  await new InboxStore(database).collect();
  await sql`update notifications set due_at = now()`.execute(database);
  await expect.poll(() => mail.to(email).length, patient).toBe(2);
  const { raw } = mail.to(email)[1]!;
  expect(headerOf(raw, "subject")).toBe("report completed");
  expect(reply).not.toBe("");
  expect(partsOf(raw).text).toContain(reply);
});

test("review runs for a pull request that is opened", async () => {
  const payload = {
    action: "opened",
    number: 7,
    pull_request: { draft: false, title: "Add carts", html_url: "https://github.com/acme/shop/pull/7" },
    repository: { full_name: "acme/shop" },
  };
  const { message, agent } = await delivered("review", (secret) => github(secret, "pull_request", "d-1", payload));
  expect(plain(message)).toMatch(/^Check out pull request 7 of \|acme\/shop\| and review it\./);
  expect(agent).toMatch(/^review-/);
});

test("triage runs for an alert of Alertmanager that fires", async () => {
  const alert = (instance: string) => ({
    status: "firing",
    labels: { alertname: "DiskFull", instance, severity: "page" },
    annotations: { summary: "97 % in use" },
    startsAt: "2030-01-31T12:00:00Z",
  });
  const payload = { version: "4", groupKey: "{}", status: "firing", alerts: [alert("db1"), alert("db2")] };
  const { message } = await delivered("triage", (secret) => bearer(secret, payload));
  expect(plain(message)).toContain("|DiskFull| on |db1|: |97 % in use|. |DiskFull| on |db2|: |97 % in use|.");
});

test("ask runs for a command in Slack", async () => {
  const command = new URLSearchParams({
    token: "gIkuvaNzQIHg97ATvDxqgjtO",
    command: "/ask",
    text: "what broke?",
    user_name: "bea",
    response_url: "https://hooks.slack.com/commands/1234/5678",
    trigger_id: "13345224609.738474920.8088930838d88f008e0",
  });
  const { message } = await delivered("ask", (secret) => {
    expect(secret).toBe(signingSecret);
    return slack(secret, command);
  });
  expect(plain(message)).toBe(
    '|bea| asks: |what broke?|. Send your answer as JSON {"text": …} with curl to |https://hooks.slack.com/commands/1234/5678|.',
  );
});
