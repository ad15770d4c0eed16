import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseOf } from "../support/accounts.ts";
import { importArchive } from "../support/archives.ts";
import type { TestClient } from "../support/client.ts";
import { authorOf, inside, PeoplesService } from "../support/people.ts";
import { putSkill } from "../support/skill-archives.ts";
import { TellingHost } from "../support/telling-host.ts";

// Secrets of a workspace, as its members set them and programs in its agents' machines use them.

const value = "canary-value-of-the-workspace";

let people: PeoplesService;
let host: TellingHost;
let workspace: string;
let owner: TestClient;
let member: TestClient;

beforeAll(async () => {
  host = await TellingHost.start();
  people = await PeoplesService.start({ egressInside: [host.authority] });
  const person = await people.person({ name: "Olga" });
  workspace = await people.newWorkspace(person);
  owner = inside(person, workspace);
  member = await people.join(owner, workspace, "member");
});
afterAll(async () => {
  await people[Symbol.asyncDispose]();
  host[Symbol.dispose]();
});

const put = (name: string, fields: object = {}, client = owner) =>
  client.call("PUT", `/secrets/${name}`, { value, hosts: [host.secretHost], headers: ["x-token"], ...fields });

/** A new agent's machine. */
async function machineOf(name: string, client = owner, fields = {}) {
  const { driver } = people.service;
  const before = driver.running;
  expect((await client.createAgent(name, fields)).body.status).toBe("ready");
  const id = driver.running.find((each) => !before.includes(each))!;
  return {
    id,
    placeholders: () => driver.provided.get(id)?.placeholders ?? {},
    authority: () => driver.provided.get(id)?.authority,
    /** The token that the host gets for a placeholder. */
    send: async (placeholder: string) => (await host.ask(driver.proxyOf(id), { "x-token": placeholder }))["x-token"],
  };
}

const secretsOf = async (name: string, client = owner) =>
  (await client.call("GET", `/agents/${name}/secrets`)).body.data;

describe("a secret of a workspace", () => {
  test("is set, shown, changed and deleted without its value", async () => {
    const made = await put("FIRST");
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      name: "FIRST",
      hosts: [host.secretHost],
      headers: ["x-token"],
      agents: null,
      lastFour: "pace",
      login: null,
      createdBy: await authorOf(owner, "Olga"),
      createdAt: expect.any(String),
      updatedAt: made.body.createdAt,
    });
    const changed = await owner.call("PUT", "/secrets/FIRST", { value: "another-canary-value" });
    expect(changed).toMatchObject({ status: 200, body: { lastFour: "alue", hosts: [host.secretHost], agents: null } });
    expect((await member.call("GET", "/secrets/FIRST")).body).toEqual(changed.body);
    const listed = await member.call("GET", "/secrets");
    expect(listed.body).toEqual({ data: [changed.body], nextCursor: null });
    expect(JSON.stringify([made, changed, listed])).not.toContain("canary");
    expect((await owner.call("DELETE", "/secrets/FIRST")).status).toBe(204);
    for (const method of ["GET", "DELETE"]) {
      expect((await owner.call(method, "/secrets/FIRST")).body.code).toBe("secret_not_found");
    }
  });

  test("shows nothing of a value shorter than 12", async () => {
    expect((await put("SHORT", { value: "12345678901" })).body.lastFour).toBeNull();
    expect((await put("SHORT", { value: "123456789012" })).body.lastFour).toBe("9012");
    await owner.call("DELETE", "/secrets/SHORT");
  });

  test.each([
    [{ value: undefined }, "value is required"],
    [{ value: "two words" }, "printable ASCII"],
    [{ hosts: [] }, "set at least one host"],
    [{ hosts: ["*"] }, "A host must look like"],
    [{ hosts: [], agents: null }, "set at least one host"],
    [{ headers: [] }, "one header"],
    [{ headers: ["host"] }, "cannot be sent in this header"],
    [{ agents: ["nobody"] }, "there is no agent nobody"],
    [{ agents: ["Not A Name"] }, "agents"],
    [{ agents: Array.from({ length: 1_001 }, (_, index) => `a-${index}`) }, "1000 agents"],
  ])("is refused with %j", async (fields, said) => {
    const answer = await put("REFUSED", fields);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(said);
    expect(JSON.stringify(answer.body)).not.toContain(value);
    expect((await owner.call("GET", "/secrets/REFUSED")).status).toBe(404);
  });

  test("with a wrong name is refused without repeating it", async () => {
    for (const name of ["lower", "PATH", "sk-live-pasted-by-mistake"]) {
      const answer = await put(name);
      expect(answer.status).toBe(400);
      expect(answer.body.message).not.toContain("pasted");
    }
  });

  test("goes to no further host or header without its value", async () => {
    await put("NARROW", { hosts: ["a.example.com", "b.example.com"], headers: ["x-token", "x-key"] });
    const without = (fields: object) => owner.call("PUT", "/secrets/NARROW", fields);
    for (const fields of [{ hosts: ["a.example.com", "evil.example.com"] }, { headers: ["x-other"] }]) {
      expect(await without(fields)).toMatchObject({ status: 400, body: { message: expect.stringContaining("value") } });
    }
    expect((await without({ hosts: ["b.example.com"], headers: ["x-key"], agents: [] })).body).toMatchObject({
      hosts: ["b.example.com"],
      headers: ["x-key"],
      agents: [],
      lastFour: "pace",
    });
    expect((await without({ hosts: [] })).status).toBe(200);
    expect((await without({ agents: null })).body.message).toContain("set at least one host");
    await owner.call("DELETE", "/secrets/NARROW");
  });

  test("for no agent needs no host, and is in no machine", async () => {
    expect(await put("SERVER_ONLY", { hosts: [], agents: [] })).toMatchObject({ status: 201, body: { agents: [] } });
    const ada = await machineOf("only-server");
    expect(ada.placeholders()).not.toHaveProperty("SERVER_ONLY");
    await owner.call("DELETE", "/secrets/SERVER_ONLY");
  });

  test("belongs to a workspace with up to 100, however many are set at once", async () => {
    const other = inside(await people.person(), "personal");
    const set = (number: number) => put(`S_${number}`, {}, other);
    const answers = await Promise.all(Array.from({ length: 110 }, (_, number) => set(number)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(Array(10).fill([409, "too_many_secrets"]));
    const names = (await other.call("GET", "/secrets")).body.data.map(({ name }: { name: string }) => name);
    expect(names).toHaveLength(100);
    expect((await put(names[0], {}, other)).status).toBe(200);
    expect((await other.call("DELETE", `/secrets/${names[0]}`)).status).toBe(204);
    expect((await put("ONE_MORE", {}, other)).status).toBe(201);
  });
});

describe("agents", () => {
  test("use a secret of all by placeholders of their own, at its hosts", async () => {
    const before = await machineOf("before");
    await put("SHARED");
    const after = await machineOf("after");
    const [one, two] = [before.placeholders().SHARED!, after.placeholders().SHARED!];
    expect(one).toMatch(/^berth-secret-SHARED-[0-9a-f]{24}$/);
    expect(two).not.toBe(one);
    expect([before.authority(), after.authority()]).toEqual(Array(2).fill(expect.stringContaining("CERTIFICATE")));
    expect(await before.send(one)).toBe(value);
    expect(await after.send(two)).toBe(value);
    expect(await after.send(one)).toBe(one);
    const [listed] = await secretsOf("before");
    expect(listed).toMatchObject({ name: "SHARED", from: "workspace", placeholder: one });
    expect(JSON.stringify(listed)).not.toContain(value);
    await owner.call("PUT", "/secrets/SHARED", { value: "the-next-value" });
    expect(await before.send(one)).toBe("the-next-value");
    await owner.call("DELETE", "/secrets/SHARED");
    expect(before.placeholders()).toEqual({});
    expect(await before.send(one)).toBe(one);
  });

  test("use one that lists them, and no longer when it does not", async () => {
    const [ada, bob] = [await machineOf("listed"), await machineOf("unlisted")];
    const made = await put("FOR_SOME", { agents: ["listed", "listed"] });
    expect(made.body.agents).toEqual(["listed"]);
    const placeholder = ada.placeholders().FOR_SOME!;
    expect(bob.placeholders()).toEqual({});
    expect(await secretsOf("unlisted")).toEqual([]);
    expect(await ada.send(placeholder)).toBe(value);
    expect(await bob.send(placeholder)).toBe(placeholder);
    // Without the field, they stay.
    expect((await owner.call("PUT", "/secrets/FOR_SOME", { value })).body.agents).toEqual(["listed"]);
    await owner.call("PUT", "/secrets/FOR_SOME", { agents: ["unlisted"] });
    expect(ada.placeholders()).toEqual({});
    expect(await ada.send(placeholder)).toBe(placeholder);
    expect(await bob.send(bob.placeholders().FOR_SOME!)).toBe(value);
    await owner.call("DELETE", "/secrets/FOR_SOME");
  });

  test("use their own secret of the same name instead", async () => {
    const ada = await machineOf("with-own");
    await put("BOTH");
    const shared = ada.placeholders().BOTH!;
    const own = { value: "canary-of-the-agent", hosts: [host.secretHost], headers: ["x-token"] };
    await owner.call("PUT", "/agents/with-own/secrets/BOTH", own);
    const [listed, ...others] = await secretsOf("with-own");
    expect([listed.from, others]).toEqual(["agent", []]);
    expect(ada.placeholders().BOTH).toBe(listed.placeholder);
    expect(await ada.send(listed.placeholder)).toBe("canary-of-the-agent");
    expect(await ada.send(shared)).toBe(shared);
    expect((await owner.call("DELETE", "/agents/with-own/secrets/BOTH")).status).toBe(204);
    expect(await ada.send(shared)).toBe(value);
    const again = await owner.call("DELETE", "/agents/with-own/secrets/BOTH");
    expect(again).toMatchObject({ status: 404, body: { code: "secret_not_found" } });
    expect(again.body.message).toContain("is a secret of the workspace");
    await owner.call("DELETE", "/secrets/BOTH");
  });

  test("that sleep have the current secrets when they wake", async () => {
    const ada = await machineOf("sleeper");
    await put("GONE");
    await owner.call("POST", "/agents/sleeper/suspend");
    await expect.poll(async () => (await owner.call("GET", "/agents/sleeper")).body.status).toBe("suspended");
    await owner.call("DELETE", "/secrets/GONE");
    await put("NEW");
    expect(Object.keys(ada.placeholders())).toEqual(["GONE"]);
    await owner.chat("sleeper", "hello");
    expect(Object.keys(ada.placeholders())).toEqual(["NEW"]);
    await owner.call("DELETE", "/secrets/NEW");
  });

  test("that are deleted leave the list, and a new one of the name is not on it", async () => {
    await machineOf("short-lived");
    await put("LISTED", { agents: ["short-lived"] });
    await owner.call("DELETE", "/agents/short-lived");
    await expect.poll(async () => (await owner.call("GET", "/secrets/LISTED")).body.agents).toEqual([]);
    const again = await machineOf("short-lived");
    expect(again.placeholders()).toEqual({});
    await owner.call("DELETE", "/secrets/LISTED");
  });

  test("that are forks have what all have, and with secrets what their source has", async () => {
    const source = await machineOf("source", owner, { autoSnapshot: 0 });
    await put("OF_ALL");
    await put("OF_SOURCE", { agents: ["source"] });
    const plain = await machineOf("plain-fork", owner, { from: { agent: "source" } });
    const full = await machineOf("full-fork", owner, { from: { agent: "source", secrets: true } });
    expect(Object.keys(plain.placeholders())).toEqual(["OF_ALL"]);
    expect(Object.keys(full.placeholders())).toEqual(["OF_ALL", "OF_SOURCE"]);
    expect((await owner.call("GET", "/secrets/OF_SOURCE")).body.agents).toEqual(["full-fork", "source"]);
    const placeholder = source.placeholders().OF_SOURCE!;
    expect(full.placeholders().OF_SOURCE).not.toBe(placeholder);
    expect(await full.send(placeholder)).toBe(placeholder);
    expect(await full.send(full.placeholders().OF_SOURCE!)).toBe(value);
    for (const name of ["OF_ALL", "OF_SOURCE"]) await owner.call("DELETE", `/secrets/${name}`);
  });

  test("that are rolled back have today's secrets", async () => {
    const ada = await machineOf("rolled", owner, { autoSnapshot: 0 });
    await put("THEN");
    await owner.call("POST", "/agents/rolled/snapshots", { name: "then" });
    await owner.call("DELETE", "/secrets/THEN");
    await put("NOW");
    expect((await owner.call("POST", "/agents/rolled/rollback?wait=ready", { snapshot: "then" })).status).toBe(200);
    expect(Object.keys(ada.placeholders())).toEqual(["NOW"]);
    await owner.call("DELETE", "/secrets/NOW");
  });
});

describe("who may", () => {
  test("members read, and only admins and owners change", async () => {
    const [admin, viewer] = [
      await people.join(owner, workspace, "admin"),
      await people.join(owner, workspace, "viewer"),
    ];
    expect((await put("ROLES", {}, admin)).status).toBe(201);
    for (const client of [member, viewer]) {
      expect(await put("ROLES", {}, client)).toMatchObject({ status: 403, body: { code: "forbidden" } });
      expect((await client.call("DELETE", "/secrets/ROLES")).status).toBe(403);
    }
    expect((await member.call("GET", "/secrets")).body.data).toHaveLength(1);
    expect((await viewer.call("GET", "/secrets")).status).toBe(403);
    expect((await viewer.call("GET", "/secrets/ROLES")).status).toBe(403);
    await admin.call("DELETE", "/secrets/ROLES");
  });

  test("other workspaces see and use none of it, whatever they are called", async () => {
    await put("OURS");
    const stranger = await people.person();
    const theirs = inside(stranger, await people.newWorkspace(stranger));
    expect((await theirs.call("GET", "/secrets")).body.data).toEqual([]);
    expect((await theirs.call("GET", "/secrets/OURS")).status).toBe(404);
    expect((await theirs.call("DELETE", "/secrets/OURS")).status).toBe(404);
    expect((await inside(stranger, workspace).call("GET", "/secrets")).status).toBe(404);
    const [ours, other] = [await machineOf("same-name"), await machineOf("same-name", theirs)];
    expect(other.placeholders()).toEqual({});
    const placeholder = ours.placeholders().OURS!;
    expect(await other.send(placeholder)).toBe(placeholder);
    expect((await put("THEIRS", { agents: ["before"] }, theirs)).body.message).toContain("there is no agent before");
    await put("OURS", { value: "value-of-the-other" }, theirs);
    expect(await other.send(other.placeholders().OURS!)).toBe("value-of-the-other");
    expect(await ours.send(placeholder)).toBe(value);
    // An agent that is imported uses the secrets of where it arrives.
    const archive = Buffer.from(await (await owner.fetch("GET", "/agents/same-name/export")).arrayBuffer());
    expect(archive.includes(value)).toBe(false);
    const headers = { "berth-workspace": encodeURIComponent(theirs.workspace!) };
    const imported = await importArchive(theirs, archive, { query: "?name=arrived&wait=ready", headers });
    expect(imported).toMatchObject({ status: 201, body: { secrets: [] } });
    expect(await secretsOf("arrived", theirs)).toMatchObject([{ name: "OURS", from: "workspace" }]);
    expect((await secretsOf("arrived", theirs))[0].placeholder).not.toBe(placeholder);
    await owner.call("DELETE", "/secrets/OURS");
  });

  test("a private agent is named to its maker and to admins only", async () => {
    const hidden = await machineOf("hidden", member, { private: true });
    await put("FOR_HIDDEN", { agents: ["hidden"] });
    expect(await hidden.send(hidden.placeholders().FOR_HIDDEN!)).toBe(value);
    const colleague = await people.join(owner, workspace, "member");
    const agents = async (client: TestClient) => (await client.call("GET", "/secrets/FOR_HIDDEN")).body.agents;
    expect([await agents(owner), await agents(member), await agents(colleague)]).toEqual([["hidden"], ["hidden"], []]);
    expect((await owner.call("GET", "/agents/hidden/secrets")).body.code).toBe("agent_private");
    expect((await colleague.call("GET", "/agents/hidden/secrets")).status).toBe(404);
    expect(await secretsOf("hidden", member)).toMatchObject([{ name: "FOR_HIDDEN" }]);
    await owner.call("DELETE", "/secrets/FOR_HIDDEN");
  });
});

test("changes are events and audit entries, with the name alone", async () => {
  const { id: last } = await firstEvent();
  await put("TOLD");
  await owner.call("PUT", "/secrets/TOLD", { agents: [] });
  await owner.call("DELETE", "/secrets/TOLD");
  const events = await eventsAfter(last, 3);
  expect(events.map(({ type, secret }) => [type, secret])).toEqual([
    ["secret.created", "TOLD"],
    ["secret.changed", "TOLD"],
    ["secret.deleted", "TOLD"],
  ]);
  expect(JSON.stringify(events)).not.toMatch(/canary|pace/);
  const { data } = (await owner.call("GET", "/audit?limit=3")).body;
  expect(data.map((entry: { operation: string; resource: string }) => [entry.operation, entry.resource])).toEqual([
    ["DELETE /secrets/{secret}", "TOLD"],
    ["PUT /secrets/{secret}", "TOLD"],
    ["PUT /secrets/{secret}", "TOLD"],
  ]);
});

type Event = { id: number; type: string; secret?: string };

async function readEvents(path: string, isLast: (events: Event[]) => boolean): Promise<Event[]> {
  const response = await owner.fetch("GET", path);
  const events: Event[] = [];
  let rest = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) if (line.startsWith("data: ")) events.push(JSON.parse(line.slice(6)));
    if (isLast(events)) break;
  }
  return events;
}

const firstEvent = async () => (await readEvents("/events", (events) => events.length > 0))[0]!;

async function eventsAfter(id: number, count: number): Promise<Event[]> {
  const isSecret = ({ type }: Event) => type.startsWith("secret.");
  const events = await readEvents(`/events?after=${id}`, (all) => all.filter(isSecret).length >= count);
  return events.filter(isSecret);
}

test("a value is nowhere in the database", async () => {
  await put("STORED");
  const database = await databaseOf(people.service);
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(database);
  for (const { name } of tables.rows) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(database);
    const text = JSON.stringify(rows);
    for (const secret of [value, Buffer.from(value).toString("hex")]) expect(text, name).not.toContain(secret);
    if (name === "workspace_secrets") expect(text).toContain("STORED");
  }
  await database.destroy();
  await owner.call("DELETE", "/secrets/STORED");
});

test.each(["0", "100"])("a deleted workspace that had %s credits leaves no secrets", async (credits) => {
  const person = await people.person();
  const name = await people.newWorkspace(person, people.newName(), credits);
  await put("GOES", {}, inside(person, name));
  const provider = { name: "goes", kind: "openai", apiKey: "sk-that-goes-with-it" };
  expect((await inside(person, name).call("POST", "/providers", provider)).status).toBe(201);
  const webhook = { url: "https://goes.example/hook" };
  expect((await inside(person, name).call("POST", "/webhooks", webhook)).status).toBe(201);
  expect((await putSkill(inside(person, name), "goes")).status).toBe(201);
  const database = await databaseOf(people.service);
  const counted = sql`
    select from workspace_secrets where name = 'GOES'
    union all select from providers where name = 'goes'
    union all select from skills where name = 'goes'
    union all select from webhooks where url = ${webhook.url}`;
  const count = async () => (await counted.execute(database)).rows.length;
  expect(await count()).toBe(4);
  expect((await person.call("DELETE", `/workspaces/${encodeURIComponent(name)}`)).status).toBe(204);
  expect(await count()).toBe(0);
  await database.destroy();
});
