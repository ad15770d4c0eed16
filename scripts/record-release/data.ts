import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { Browser } from "../../test/support/browser.ts";
import type { Answer, TestClient } from "../../test/support/client.ts";
import type { ReleaseRecord } from "../../test/support/release-answers.ts";
import type { ScriptedService } from "../../test/support/scripted-service.ts";
import { signIn, useLink } from "../../test/support/sign-in.ts";

const password = "correct horse battery staple";

/** Names and numbers in the data, for the requests. */
export interface ReleaseFacts {
  turn: string;
  /** The turn that the key of the kind `agent` began. */
  agentTurn: string;
  response: string;
  /** The id of nothing. */
  unknown: string;
  /** A request with the `Idempotency-Key` of one that has its answer. */
  repeated: { method: string; path: string; headers: Record<string, string>; body: unknown };
  firstEvent: number;
  lastEvent: number;
  /** The day of the data, in UTC. */
  day: string;
}

type Parts = Pick<ReleaseRecord, "credentials" | "files"> & { facts: ReleaseFacts };

/** Uses all of a service that the API can make rows with. Its machines are asleep afterwards. */
export async function fillRelease(service: ScriptedService): Promise<Parts> {
  const { client } = service;
  const { url } = service.server;
  await useLink(service.server.firstSignIn!, password, "ulla");
  const browser = await addUser(client, "Bea");
  await addUser(client, "Dana");
  await ok(client.call("POST", "/admin/users", { name: "Cid" }));
  await ok(client.call("POST", "/admin/credits/grants", { user: "Bea", credits: "25", note: "a start" }));
  const agents = await fillAgents(service);
  const { refresh_token, access_token } = await signIn(url, "Bea", password);
  const beaClient = client.constructor as new (url: string, key: string) => TestClient;
  const asBea = new beaClient(url, access_token);
  await asBea.createAgent("hal");
  await asBea.ask("hal", "good morning");
  const asDana = new beaClient(url, (await signIn(url, "Dana", password)).access_token);
  const key = async (from: TestClient, body: object) => (await ok(from.call("POST", "/keys", body))).body;
  const revoked = await key(client, { name: "lost" });
  await ok(client.call("DELETE", `/keys/${revoked.id}`));
  const adaOnly = await key(client, { name: "ada's", kind: "agent", agents: ["ada"], creditLimit: "5" });
  const { turnId } = await new beaClient(url, adaOnly.key).chat("ada", "from outside");
  const keys = {
    operator: client.key,
    bea: (await key(asBea, { name: "laptop" })).key,
    disabled: (await key(asDana, {})).key,
    revoked: revoked.key,
    expired: (await key(client, { name: "short", expiresAt: "2100-01-01T00:00:00Z" })).key,
    "ada-only": adaOnly.key,
  };
  const headers = { "idempotency-key": "the-same" };
  const repeated = { method: "POST", path: "/keys", headers, body: { name: "made once" } };
  await ok(client.call("POST", "/keys", repeated.body, headers));
  await ok(client.call("POST", "/admin/users/Dana/disable"));
  await refuseSignIn(url, "Bea");
  const cookie = await dashboardCookie(url, browser);
  await ok(asBea.call("POST", "/agents/hal/suspend"));
  for (const name of ["ada", "bob"]) await ok(client.call("POST", `/agents/${name}/suspend`));
  return {
    credentials: { keys, refreshTokens: { "bea-session-token": refresh_token }, cookies: { "bea-browser": cookie } },
    files: await filesOf(service),
    facts: {
      ...agents,
      agentTurn: turnId,
      unknown: randomUUID(),
      repeated,
      firstEvent: 1,
      lastEvent: 0,
      day: new Date().toISOString().slice(0, 10),
    },
  };
}

async function ok(answer: Promise<Answer>): Promise<Answer> {
  const got = await answer;
  if (got.status >= 400) throw new Error(`${got.status} ${JSON.stringify(got.body)}`);
  return got;
}

async function addUser(client: TestClient, name: string): Promise<Browser> {
  const { body } = await ok(client.call("POST", "/admin/users", { name }));
  const browser = new Browser();
  await useLink(body.link, password, undefined, browser);
  return browser;
}

async function refuseSignIn(url: string, name: string): Promise<void> {
  await signIn(url, name, "a wrong password for it").then(
    () => {
      throw new Error("a wrong password was accepted");
    },
    () => {},
  );
}

/** The operator's agents: with turns of each kind, settings, a snapshot, a secret and a shared port. */
async function fillAgents({ client }: ScriptedService) {
  await client.createAgent("ada", { instructions: "Be brief.", autoSnapshot: 1 });
  await client.createAgent("bob");
  await ok(
    client.call("PATCH", "/agents/ada", { agents: ["bob"], mcpServers: { docs: { url: "https://docs.example/mcp" } } }),
  );
  const { turnId } = await client.chat("ada", "tool");
  await client.chat("ada", "crash");
  await client.ask("ada", "hello there");
  await ok(client.call("PUT", "/agents/ada/secrets/TOKEN", { value: "a-secret-value", hosts: ["api.example.com"] }));
  await ok(client.call("PUT", "/agents/ada/network", { allow: ["*.example.com"], deny: ["198.51.100.0/24"] }));
  await ok(client.call("POST", "/agents/ada/ports/8080/share", { public: true }));
  await ok(
    client.call("PUT", "/agents/ada/files/work/notes.txt", "the notes\n", {
      "content-type": "application/octet-stream",
    }),
  );
  await ok(client.call("POST", "/agents/ada/snapshots", { name: "before" }));
  await client.ask("bob", "first");
  await ok(client.call("PATCH", "/agents/bob", { runtime: "opencode" }));
  await client.restartAgent("bob");
  await client.ask("bob", "second");
  await ok(client.call("POST", "/agents/ada/conversation/reset"));
  const response = await ok(client.call("POST", "/v1/responses", { model: "ada", input: "hello as OpenAI" }));
  return { turn: turnId, response: response.body.id as string };
}

/** The cookie of a browser that has signed in to the dashboard. */
async function dashboardCookie(url: string, browser: Browser): Promise<string> {
  const begun = await fetch(`${url}/dashboard/sign-in?to=/`, { redirect: "manual" });
  const page = await browser.get(begun.headers.get("location")!);
  const returned = page.text === "" ? page : await browser.submit(page, { name: "Bea", password });
  const cookies = (response: Response) => response.headers.getSetCookie().map((line) => line.split(";")[0]!);
  const ended = await fetch(returned.url, { redirect: "manual", headers: { cookie: cookies(begun).join("; ") } });
  return cookies(ended).find((each) => each.includes("berth_dashboard="))!;
}

/** The files of the data folder that a machine with the same disk needs. */
async function filesOf(service: ScriptedService): Promise<Record<string, string>> {
  const folder = service.config.dataFolder;
  const files: Record<string, string> = { "host.id": await readFile(join(folder, "host.id"), "utf8") };
  for (const { id } of await service.server.machines.list()) {
    const notes = await readFile(join(folder, "machines", id, "work/notes.txt"), "utf8").catch(() => "");
    files[`machines/${id}/work/notes.txt`] = notes;
  }
  return files;
}

/** Adds the rows that only a machine's traffic, another time or a fault makes, and moves all expiries away from today. */
export async function completeRelease(client: pg.Client): Promise<{ lastEvent: number }> {
  await client.query("update api_keys set expires_at = '2020-01-01' where expires_at is not null");
  await client.query(`
    insert into rate_limits select 'address:127.0.0.1', 1, 4102444800000;
    insert into network_log
      select '018f0000-0000-7000-8000-000000000001', id, '2026-01-01T10:00:00Z', '2026-01-01T10:00:01Z',
        null, 'closed', 'www.example.com', 443, '192.0.2.1', 100, 2000, 1 from agents where name = 'ada';
    insert into network_log
      select '018f0000-0000-7000-8000-000000000002', id, '2026-01-01T11:00:00Z', '2026-01-01T11:00:01Z',
        'denied', null, 'other.example', 80, null, 0, 0, 3 from agents where name = 'ada';
    insert into credit_holds
      select gen_random_uuid(), account_id, null, id, name, null, 'demo/demo', 1000, '2100-01-01' from agents where name = 'hal';
    update accounts set held = 1000 where id = (select account_id from agents where name = 'hal');
    update oidc_records set expires_at = '2100-01-01',
      payload = (payload::jsonb || jsonb_build_object('exp', 4102444800))::json;
    update dashboard_sessions set expires_at = '2100-01-01';
    update user_links set expires_at = '2100-01-01';
    update sign_in_attempts set expire = 4102444800000;
    update idempotency_keys set created_at = '2100-01-01', leased_until = '2100-01-01';
    select number_account_events();
    update account_events set at = '2100-01-01';
    insert into account_events_removed select id, 1 from accounts where operator;
    delete from account_events where number = 1`);
  const { rows } = await client.query(
    "select max(number) as last from account_events e join accounts a on a.id = account_id where operator",
  );
  return { lastEvent: Number(rows[0].last) };
}
