import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "../../src/core/database/database.ts";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { freePort } from "../../src/core/ports.ts";
import { acceptOrphans } from "../../src/hosts/found-files.ts";
import type { TestClient } from "../support/client.ts";
import { inside, PeoplesService } from "../support/people.ts";

// Agents without rows, whose machines the operator gives back. `diary` was private, and `notes` was not.

let people: PeoplesService;
let alone: TestClient;
let mia: TestClient;
let max: TestClient;
let workspace: string;
let ids: Record<string, string>;

beforeAll(async () => {
  people = await PeoplesService.start({ port: await freePort() });
  alone = await people.person({ name: "olga" });
  const name = await people.newWorkspace(alone);
  const owner = inside(alone, name);
  mia = await people.join(owner, name, "member", { name: "mia" });
  max = await people.join(owner, name, "member");
  workspace = (await mia.call("GET", "/me")).body.workspace.id;
  await mia.createAgent("diary", { private: true, autoSnapshot: 0 });
  await mia.ask("diary", "remember this");
  for (const each of ["notes", "plans", "ideas"]) await mia.createAgent(each, { autoSnapshot: 0 });
  await people.service.restart(async () => {
    ids = await forgetAgents();
    expect(await acceptOrphans(people.service.config, { accept: true })).toHaveLength(4);
  });
});
afterAll(() => people[Symbol.asyncDispose]());

/** Removes the agents' rows from the database of a stopped server. Returns their ids by name. */
async function forgetAgents(): Promise<Record<string, string>> {
  const postgres = await startEmbeddedPostgres(join(people.service.config.dataFolder, "postgres"));
  const database = openDatabase(postgres.config, () => {});
  const rows = await database.deleteFrom("agents").returning(["name", "id"]).execute();
  await sql`delete from removals`.execute(database);
  await database.destroy();
  await postgres.stop();
  return Object.fromEntries(rows.map(({ name, id }) => [name, id]));
}

async function giveBack(from: string, asked: object) {
  const { client } = people.service;
  const orphans = async () =>
    (await client.call("GET", "/admin/orphans")).body.data.map(({ id }: { id: string }) => id);
  await expect.poll(orphans).toContain(ids[from]);
  return client.call("POST", `/admin/orphans/${ids[from]}/give-back`, asked);
}

test("a private agent is given back to its maker alone, under any name", async () => {
  const message = `The agent was private: give it back to the account ${workspace}, and leave \`private\` out.`;
  const { id: personal } = (await alone.call("GET", "/me")).body.workspace;
  for (const wrong of [{}, { account: personal }, { account: workspace, private: false }]) {
    const refused = await giveBack("diary", { name: "found", ...wrong });
    expect(refused.body).toMatchObject({ code: "request_invalid", message });
  }
  const given = await giveBack("diary", { name: "found", account: workspace });
  expect(given).toMatchObject({ status: 201, body: { private: true, maker: { name: "mia" } } });
  expect((await max.call("GET", "/agents/found")).status).toBe(404);
  expect(await mia.ask("found", "recall")).toBe("remember this\nrecall\n");
  await mia.call("POST", "/agents/found/suspend");
  for (const path of ["/audit?limit=100", "/billing/entries?limit=100"]) {
    expect(JSON.stringify((await max.call("GET", path)).body)).not.toMatch(/found|diary/);
    expect(JSON.stringify((await mia.call("GET", path)).body)).toContain("found");
  }
});

test("an agent of an unknown maker is shown to several members by an explicit choice only", async () => {
  for (const chosen of [{}, { private: true }]) {
    const refused = await giveBack("notes", { name: "notes", account: workspace, ...chosen });
    expect(refused.body).toMatchObject({
      code: "request_invalid",
      message: expect.stringContaining("several members"),
    });
  }
  const given = await giveBack("notes", { name: "notes", account: workspace, private: false });
  expect(given).toMatchObject({ status: 201, body: { private: false, maker: null } });
  expect((await max.call("GET", "/agents/notes")).status).toBe(200);
});

test("an agent of an unknown maker is private in a personal workspace", async () => {
  const { id: account } = (await alone.call("GET", "/me")).body.workspace;
  await people.join(alone, "personal", "admin");
  const given = await giveBack("plans", { name: "plans", account });
  expect(given).toMatchObject({ status: 201, body: { private: true, maker: { name: "olga" } } });
  expect((await alone.call("GET", "/agents/plans/turns")).status).toBe(200);
});

test("an agent is private to nobody in an account without members", async () => {
  const refused = await giveBack("ideas", { name: "ideas", private: true });
  expect(refused.body).toMatchObject({ code: "request_invalid", message: expect.stringContaining("no members") });
  expect(await giveBack("ideas", { name: "ideas" })).toMatchObject({ status: 201, body: { private: false } });
});
