import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestClient } from "../support/client.ts";
import { callTool, connectMcp, refusalOf } from "../support/mcp-client.ts";
import { inside, PeoplesService } from "../support/people.ts";

let people: PeoplesService;
/** All are in one workspace. The maker and the member have the role `member`. */
let owner: TestClient;
let maker: TestClient;
let member: TestClient;
let viewer: TestClient;
let workspace: string;

beforeAll(async () => {
  people = await PeoplesService.start({ machinePrice: "1" });
  const alone = await people.person({ name: "olga" });
  workspace = await people.newWorkspace(alone, "team");
  owner = inside(alone, workspace);
  maker = await join("mia", "member");
  member = await join("max", "member");
  viewer = await join("vera", "viewer");
});
afterAll(() => people[Symbol.asyncDispose]());

const join = (name: string, role: string) => people.join(owner, workspace, role, { name });

let count = 0;
async function newPrivate(fields: object = {}): Promise<string> {
  const name = `secret-${count++}`;
  const { status } = await maker.createAgent(name, { private: true, ...fields });
  expect(status).toBe(201);
  return name;
}

const namesSeenBy = async (client: TestClient) =>
  (await client.call("GET", "/agents")).body.data.map(({ name }: { name: string }) => name);

describe("a private agent", () => {
  test("is used by its maker, signed in or with a key", async () => {
    const name = await newPrivate({ instructions: "Be brief." });
    const { key } = (await maker.call("POST", "/keys", {})).body;
    for (const client of [maker, new TestClient(maker.url, key)]) {
      expect((await client.call("GET", `/agents/${name}`)).body).toMatchObject({
        private: true,
        maker: { name: "mia" },
        instructions: "Be brief.",
      });
      expect(await namesSeenBy(client)).toContain(name);
      expect(await client.ask(name, "hello")).not.toBe("");
    }
  });

  test("does not exist for other members and viewers", async () => {
    const name = await newPrivate();
    await maker.ask(name, "hello");
    const { driver } = people.service;
    const proxy = driver.proxyOf(driver.running.at(-1)!);
    await once(request(proxy, { method: "CONNECT", path: "inside.internal:443" }).end(), "connect");
    const searched = async () => (await maker.call("GET", "/search?q=needle")).body.data;
    await maker.ask(name, "needle hello");
    await expect.poll(searched, { timeout: 10_000 }).toMatchObject([{ agent: name }, { agent: name }]);
    const log = async (client: TestClient) => (await client.call("GET", "/network/log")).body.data;
    await expect.poll(() => log(maker)).toMatchObject([{ agent: name }]);
    expect(await log(member)).toEqual([]);
    for (const client of [member, viewer]) {
      const missing = await client.call("GET", "/agents/no-such-agent");
      const hidden = await client.call("GET", `/agents/${name}`);
      expect(hidden.body).toEqual(JSON.parse(JSON.stringify(missing.body).replaceAll("no-such-agent", name)));
      expect(await namesSeenBy(client)).not.toContain(name);
      expect((await client.call("GET", "/turns")).body.data).toEqual([]);
      expect((await client.call("GET", "/search?q=hello")).body.data).toEqual([]);
      expect((await client.call("GET", "/v1/models")).body.data).toEqual([]);
    }
    expect((await member.call("POST", "/agents", { name })).body.code).toBe("agent_exists");
    expect((await member.call("POST", "/keys", { kind: "agent", agents: [name] })).body.code).toBe("request_invalid");
  });

  test("shows owners its name, maker and status, and nothing else", async () => {
    const name = await newPrivate({ instructions: "A secret.", mcpServers: { tool: { url: "https://example.com" } } });
    await maker.ask(name, "a secret");
    const { body } = await owner.call("GET", `/agents/${name}`);
    expect(body).toMatchObject({ name, private: true, status: "ready", maker: { name: "mia" }, instructions: null });
    expect(JSON.stringify(body)).not.toMatch(/secret\.|example/i);
    expect(await namesSeenBy(owner)).toContain(name);
    expect((await owner.call("GET", `/agents/${name}/turns`)).body).toMatchObject({
      code: "agent_private",
      message: `The agent ${name} is private: only its maker, mia, may do this.`,
    });
    expect(JSON.stringify((await owner.call("GET", "/turns")).body)).not.toContain(name);
    expect((await owner.call("POST", `/agents/${name}/suspend`)).body).toMatchObject({ instructions: null });
    expect((await owner.call("DELETE", `/agents/${name}`)).status).toBe(204);
  });

  test("is made private and shared by its maker alone", async () => {
    await maker.createAgent("changing");
    expect((await member.call("PATCH", "/agents/changing", { private: true })).body.code).toBe("forbidden");
    expect((await owner.call("PATCH", "/agents/changing", { private: true })).body.code).toBe("forbidden");
    expect((await maker.call("PATCH", "/agents/changing", { private: true })).body).toMatchObject({ private: true });
    expect((await member.call("PATCH", "/agents/changing", { private: false })).body.code).toBe("agent_not_found");
    expect((await owner.call("PATCH", "/agents/changing", { private: false })).body.code).toBe("agent_private");
    expect((await maker.call("PATCH", "/agents/changing", { private: false })).body).toMatchObject({ private: false });
    expect((await member.call("GET", "/agents/changing")).status).toBe(200);
  });

  test("has automations that only its maker sees, and those of others do not reach it", async () => {
    const name = await newPrivate();
    const trigger = { type: "schedule", cron: "0 0 1 1 *", timeZone: "UTC" };
    const asked = { agent: name, message: "a secret", trigger };
    expect((await maker.call("POST", "/automations", { ...asked, name: "hidden" })).status).toBe(201);
    for (const client of [member, viewer, owner]) {
      expect((await client.call("GET", "/automations")).body.data).toEqual([]);
      expect((await client.call("GET", "/automations/hidden/runs")).body.code).toBe("automation_not_found");
      const { body: found } = await client.call("GET", "/audit?search=hidden");
      const { body: log } = await client.call("GET", `/audit?agent=${name}`);
      if (client === viewer) continue;
      expect(found.data).toEqual([]);
      expect(log.data.filter(({ resource }: { resource: string | null }) => resource !== null)).toEqual([]);
    }
    expect((await member.call("POST", "/automations", { ...asked, name: "own" })).body.code).toBe("agent_not_found");
    await maker.call("PATCH", `/agents/${name}`, { private: false });
    expect((await member.call("POST", "/automations", { ...asked, name: "own" })).status).toBe(201);
    expect((await viewer.call("GET", "/automations")).body.data).toHaveLength(2);
    await maker.call("PATCH", `/agents/${name}`, { private: true });
    expect((await member.call("GET", "/automations/own")).status).toBe(404);
    await maker.call("POST", "/automations/own/run");
    const runs = async () => (await maker.call("GET", "/automations/own/runs")).body.data;
    await expect.poll(runs).toMatchObject([{ status: "failed", reason: { code: "agent_not_found" }, turnId: null }]);
    expect((await maker.call("DELETE", `/agents/${name}`)).status).toBe(204);
    for (const client of [maker, member]) expect((await client.call("GET", "/automations")).body.data).toEqual([]);
  });

  test("needs a maker", async () => {
    const without = await people.service.client.call("POST", "/agents", { name: "without", private: true });
    expect(without.body).toMatchObject({ code: "request_invalid", message: expect.stringContaining("no maker") });
    await people.service.client.createAgent("without");
    const changed = await people.service.client.call("PATCH", "/agents/without", { private: true });
    expect(changed.body).toMatchObject({ code: "request_invalid", message: expect.stringContaining("no maker") });
  });

  test("is created by a tool of the Model Context Protocol", async () => {
    const { key } = (await maker.call("POST", "/keys", {})).body;
    const client = await connectMcp({ url: maker.url, key });
    const asked = { name: "by-tool", private: true };
    expect(await callTool(client, "create_agent", asked)).toMatchObject(asked);
    await client.close();
    expect((await member.call("GET", "/agents/by-tool")).status).toBe(404);
    const without = await connectMcp(people.service.client);
    expect(await refusalOf(without, "create_agent", asked)).toContain("no maker");
    await without.close();
  });

  test("stays closed when its maker leaves, and can be deleted", async () => {
    const leaving = await join("lea", "member");
    await leaving.createAgent("left", { private: true });
    const { id } = (await leaving.call("GET", "/me")).body.person;
    expect((await owner.call("DELETE", `/workspaces/${workspace}/members/${id}`)).status).toBe(204);
    expect((await owner.call("GET", "/agents/left/turns")).body.code).toBe("agent_private");
    expect((await member.call("GET", "/agents/left")).status).toBe(404);
    expect((await owner.call("DELETE", "/agents/left")).status).toBe(204);
  });

  test("has private forks, which only its maker makes", async () => {
    const name = await newPrivate();
    await maker.call("POST", `/agents/${name}/snapshots`, { name: "then" });
    const from = { agent: name };
    expect((await member.call("POST", "/agents", { name: "stolen", from })).body.code).toBe("agent_not_found");
    expect((await owner.call("POST", "/agents", { name: "stolen", from })).body.code).toBe("agent_private");
    const open = await maker.call("POST", "/agents", { name: "opened", from, private: false });
    expect(open.body).toMatchObject({ code: "request_invalid", message: expect.stringContaining("is private") });
    const fork = await maker.createAgent("forked", { from: { ...from, snapshot: "then" } });
    expect(fork.body).toMatchObject({ private: true, maker: { name: "mia" } });
    expect((await member.call("GET", "/agents/forked")).status).toBe(404);
  });

  test("is not named as the source of its forks", async () => {
    const name = await newPrivate();
    await maker.createAgent("shared-fork", { from: { agent: name } });
    await maker.call("PATCH", "/agents/shared-fork", { private: false });
    const source = { agent: name, snapshot: null };
    const sourceSeenBy = async (client: TestClient) => {
      const { forkedFrom } = (await client.call("GET", "/agents/shared-fork")).body;
      const { data } = (await client.call("GET", "/agents")).body;
      expect(data.find((each: { name: string }) => each.name === "shared-fork").forkedFrom).toEqual(forkedFrom);
      return forkedFrom;
    };
    for (const client of [maker, owner]) expect(await sourceSeenBy(client)).toEqual(source);
    for (const client of [member, viewer]) expect(await sourceSeenBy(client)).toBeNull();
    expect((await member.call("PATCH", "/agents/shared-fork", { instructions: "Be brief." })).body).toMatchObject({
      forkedFrom: null,
    });
    await maker.call("PATCH", `/agents/${name}`, { private: false });
    expect(await sourceSeenBy(member)).toEqual(source);
    await maker.call("PATCH", `/agents/${name}`, { private: true });
    await maker.call("DELETE", `/agents/${name}`);
    expect(await sourceSeenBy(member)).toBeNull();
  });

  test("is called by private agents of its maker alone", async () => {
    const name = await newPrivate();
    const asked = (client: TestClient, fields: object) =>
      client.call("POST", "/agents", { name: `caller-${count++}`, agents: [name], ...fields });
    expect((await asked(member, {})).body.code).toBe("agent_not_found");
    expect((await asked(owner, {})).body.code).toBe("agent_not_found");
    expect((await asked(maker, {})).body.message).toContain("Only private agents of its maker may call it");
    const calling = await asked(maker, { private: true });
    expect(calling.status).toBe(201);
    const shared = await maker.call("PATCH", `/agents/${calling.body.name}`, { private: false });
    expect(shared.body.message).toContain("Only private agents of its maker may call it");
  });

  test("leaves the lists of agents that others may call when it becomes private", async () => {
    await maker.createAgent("called");
    await member.createAgent("calling", { agents: ["called"] });
    await maker.call("PATCH", "/agents/called", { private: true });
    expect((await member.call("GET", "/agents/calling")).body.agents).toEqual([]);
  });

  test("stays private in an archive", async () => {
    const name = await newPrivate();
    const archive = await (await maker.fetch("GET", `/agents/${name}/export`)).arrayBuffer();
    const imported = await fetch(`${maker.url}/imports?name=imported&wait=ready`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${maker.key}`,
        "berth-workspace": workspace,
        "content-type": "application/x-tar",
      },
      body: archive,
    });
    const { agent } = (await imported.json()) as { agent: object };
    expect(agent).toMatchObject({ name: "imported", private: true, maker: { name: "mia" } });
    expect((await member.call("GET", "/agents/imported")).status).toBe(404);
  });
});

/** The events that the client has received so far, from the first on. */
async function eventsOf(client: TestClient, until: string): Promise<string> {
  const response = await client.fetch("GET", "/events?after=0");
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes(until)) break;
  }
  return text;
}

describe("what remains of a private agent is hidden from others", () => {
  test("in events, the audit log, the ledger and usage, also once it is deleted", async () => {
    const name = await newPrivate();
    await maker.ask(name, "hello");
    await maker.call("POST", `/agents/${name}/chat`, {});
    await maker.call("POST", `/agents/${name}/suspend`); // Its time is charged now.
    const look = async (client: TestClient) => {
      const end = `end-${count++}`;
      await maker.call("POST", "/agents", { name: end });
      const others =
        client === viewer ? [] : ["/audit?limit=100", "/billing", "/billing/entries", "/billing/usage?by=agent"];
      const answers = await Promise.all(
        others.map(async (path) => JSON.stringify((await client.call("GET", path)).body)),
      );
      const events = client === viewer ? "" : await eventsOf(client, end);
      return [...answers, events].map((text) => text.includes(name));
    };
    expect(await look(maker)).toEqual([true, true, true, true, true]);
    for (const deleted of [false, true]) {
      if (deleted) expect((await maker.call("DELETE", `/agents/${name}`)).status).toBe(204);
      expect(await look(member)).toEqual([false, false, false, false, false]);
      // Owners see its cost and operations, not its messages.
      expect(await look(owner)).toEqual([true, true, true, true, false]);
    }
    // A member's own attempts are there, as for a name that no agent has.
    await member.call("DELETE", `/agents/${name}`);
    const tried = (await member.call("GET", `/audit?agent=${name}`)).body.data;
    expect(tried).toMatchObject([{ operation: "DELETE /agents/{name}", status: 404 }]);
    const { data } = (await member.call("GET", `/billing/entries?agent=${name}`)).body;
    expect(data).toEqual([]);
    // A public agent of the same name has a history of its own.
    await member.createAgent(name);
    const { data: entries } = (await member.call("GET", `/audit?agent=${name}`)).body;
    expect(entries.map(({ operation }: { operation: string }) => operation)).toEqual([
      "POST /agents",
      "DELETE /agents/{name}",
    ]);
  });
});
