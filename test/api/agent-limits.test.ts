import { sql } from "kysely";
import { expect, test } from "vitest";
import { AgentStore } from "../../src/agents/store.ts";
import { databaseOf, newAccount } from "../support/accounts.ts";
import { archiveWith, importArchive } from "../support/archives.ts";
import { ScriptedService } from "../support/scripted-service.ts";

const server = (bytes: number) => ({ command: "true", args: Array<string>(bytes / 10_000).fill("x".repeat(9_990)) });

test("an account has up to its number of agents, forks and imports included", async () => {
  await using service = await ScriptedService.start({ maximumAgentsPerAccount: 2 });
  const { client } = service;
  await client.createAgent("ada");
  const forks = await client.call("POST", "/agents", { name: "fox", from: { agent: "ada" }, count: 2 });
  expect([forks.status, forks.body.code]).toEqual([409, "too_many_agents"]);
  expect((await client.createAgent("bea")).status).toBe(201);
  const third = await client.call("POST", "/agents", { name: "cleo" });
  expect([third.status, third.body.code]).toEqual([409, "too_many_agents"]);
  const imported = await importArchive(client, await archiveWith(), { query: "?name=eve" });
  expect([imported.status, imported.body.code]).toEqual([409, "too_many_agents"]);
  // It is the account's limit, and a deleted agent counts no more.
  expect((await (await newAccount(service)).call("POST", "/agents", { name: "cleo" })).status).toBe(201);
  await client.call("DELETE", "/agents/ada");
  expect((await client.call("POST", "/agents", { name: "cleo" })).status).toBe(201);
});

test("agents that are created at the same moment do not pass the maximum together", async () => {
  await using service = await ScriptedService.start({ maximumAgentsPerAccount: 3 });
  const { client } = service;
  await client.createAgent("ada");
  const create = (name: string) => client.call("POST", "/agents", { name });
  const fork = (name: string) => client.call("POST", "/agents", { name, from: { agent: "ada" }, count: 2 });
  const archive = await archiveWith();
  const answers = await Promise.all([
    ...["bea", "cleo", "dan", "eve"].map(create),
    fork("fox"),
    importArchive(client, archive, { query: "?name=ida" }),
  ]);
  const refused = answers.filter(({ status }) => status !== 201);
  for (const { status, body } of refused) expect([status, body.code]).toEqual([409, "too_many_agents"]);
  const { data } = (await client.call("GET", "/agents")).body;
  expect(data).toHaveLength(3);
});

test("an agent's settings are limited together, however they come", async () => {
  await using service = await ScriptedService.start();
  const { client } = service;
  const refused = { status: 400, body: { code: "request_invalid", message: expect.stringContaining("256 KiB") } };
  const large = { a: server(300_000) };
  expect(await client.call("POST", "/agents", { name: "ada", mcpServers: large })).toMatchObject(refused);
  await client.createAgent("ada", { mcpServers: { a: server(200_000) } });
  expect(await client.call("PATCH", "/agents/ada", { mcpServers: large })).toMatchObject(refused);
  expect(await client.call("PATCH", "/agents/ada", { instructions: "x".repeat(65_000) })).toMatchObject(refused);
  const archive = await archiveWith({ settings: { mcpServers: large } });
  expect(await importArchive(client, archive)).toMatchObject(refused);
});

test("look-ups of an imported agent skip its import report", async () => {
  await using service = await ScriptedService.start();
  const database = await databaseOf(service);
  await using _ = { [Symbol.asyncDispose]: () => database.destroy() };
  const apt = Array.from({ length: 9_000 }, (_, at) => ({ name: `package-${at}`, version: "1".repeat(200) }));
  const archive = await archiveWith({ manifest: { installed: { apt, npm: [] } } });
  const imported = await importArchive(service.client, archive, { query: "?wait=ready" });
  expect(imported.body.installed.apt).toHaveLength(9_000);
  const { name } = imported.body.agent;
  expect((await service.client.call("GET", `/agents/${name}`)).body.importedFrom).toEqual(
    imported.body.agent.importedFrom,
  );
  const { rows } = await sql<{ bytes: number }>`
    select octet_length((to_jsonb(agents) - 'import_detail')::text) as bytes from agents`.execute(database);
  expect(rows[0]!.bytes).toBeLessThan(10_000);
  const { rows: owners } = await sql<{ id: string }>`select account_id as id from agents`.execute(database);
  const read = await new AgentStore(database, "another host", 1_000).byName(owners[0]!.id, name);
  expect(JSON.stringify(read).length).toBeLessThan(10_000);
});
