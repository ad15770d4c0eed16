import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { accept, inside, PeoplesService } from "../support/people.ts";
import { ring } from "../support/timers.ts";

let people: PeoplesService;
let database: Database;
beforeAll(async () => {
  people = await PeoplesService.start();
  database = await databaseOf(people.service);
});
afterAll(async () => {
  await database.destroy();
  await people[Symbol.asyncDispose]();
});

test("a workspace is deleted with its agents by force, and restored by its owner", async () => {
  const ada = await people.person();
  const name = await people.newWorkspace(ada);
  const team = inside(ada, name);
  const bob = await people.join(ada, name, "member");
  const { key } = (await team.call("POST", "/keys", {})).body;
  const withKey = new TestClient(ada.url, key);
  await team.createAgent("ada");
  const before = (await team.call("GET", "/agents/ada")).body;
  const turnId = (await team.fetch("POST", "/agents/ada/chat", { message: "hang" })).headers.get("x-turn-id");
  const path = `/workspaces/${encodeURIComponent(name)}`;
  const id = (await team.call("GET", "/me")).body.workspace.id;
  const invitation = await people.invite(ada, name);
  expect((await bob.call("DELETE", `${path}?force`)).status).toBe(403);
  expect((await ada.call("DELETE", `${path}?force=perhaps`)).body.message).toMatch(/force is true or false/);
  expect((await ada.call("DELETE", `${path}?force`)).status).toBe(202);
  for (const client of [team, bob]) expect((await client.call("GET", "/agents")).status).toBe(404);
  expect((await withKey.call("GET", "/agents")).status).toBe(401);
  expect((await ada.call("DELETE", `${path}?force`)).status).toBe(404);
  const cleo = await people.person();
  expect((await accept(cleo, invitation)).body).toMatchObject({
    code: "invitation_ended",
    message: expect.stringMatching(/was deleted/),
  });
  expect((await ada.call("POST", "/workspaces", { name })).body.code).toBe("workspace_exists");
  const states = database.selectFrom("agents").select("status").where("account_id", "=", id);
  await expect.poll(() => states.execute()).toEqual([{ status: "suspended" }]);

  const { data } = (await ada.call("GET", "/deleted-workspaces")).body;
  expect(data).toEqual([{ id, name, deletedAt: expect.any(String), removedAt: expect.any(String) }]);
  expect(Date.parse(data[0].removedAt) - Date.parse(data[0].deletedAt)).toBe(14 * 86_400_000);
  expect((await inside(bob, "personal").call("GET", "/deleted-workspaces")).body.data).toEqual([]);
  const restore = (client: TestClient, asked = id) => client.call("POST", `/deleted-workspaces/${asked}/restore`);
  expect((await restore(inside(bob, "personal"))).body.code).toBe("workspace_not_found");
  expect((await restore(ada, "nothing")).body.code).toBe("workspace_not_found");
  expect((await restore(ada)).body).toMatchObject({ id, name, role: "owner" });
  expect((await restore(ada)).status).toBe(404);
  expect((await accept(cleo, invitation)).status).toBe(200);

  expect((await team.call("GET", "/agents/ada")).body).toEqual({
    ...before,
    status: "suspended",
    lastActiveAt: expect.any(String),
  });
  const turn = (await bob.call("GET", `/agents/ada/turns/${turnId}`)).body;
  expect(turn).toMatchObject({ status: "failed", error: { message: "The agent's workspace was deleted." } });
  expect(await new TestClient(ada.url, key).ask("ada", "hello")).toBe("hello");
  const { data: log } = (await team.call("GET", "/audit?search=workspaces")).body;
  expect(log.slice(0, 3).map(({ operation }: { operation: string }) => operation)).toEqual([
    "POST /deleted-workspaces/{id}/restore",
    "DELETE /workspaces/{name}",
    "DELETE /workspaces/{name}",
  ]);
});

test("a workspace is removed with its agents once it can no longer be restored", async () => {
  const ada = await people.person();
  const name = await people.newWorkspace(ada);
  const team = inside(ada, name);
  await team.createAgent("ada");
  await team.ask("ada", "hello");
  const id = (await team.call("GET", "/me")).body.workspace.id;
  expect((await ada.call("DELETE", `/workspaces/${id}?force=true`)).status).toBe(202);
  const past = sql<Date>`now() - interval '15 days'`;
  await database.updateTable("accounts").set({ deleted_at: past }).where("id", "=", id).execute();
  expect((await ada.call("GET", "/deleted-workspaces")).body.data).toEqual([]);
  expect((await ada.call("POST", `/deleted-workspaces/${id}/restore`)).status).toBe(404);
  const { host } = await database
    .selectFrom("agents")
    .select("host")
    .where("account_id", "=", id)
    .executeTakeFirstOrThrow();
  await ring(database, `agent-sweep-${host}`);
  const agents = database.selectFrom("agents").select("id").where("account_id", "=", id);
  await expect.poll(() => agents.execute()).toEqual([]);
  await expect.poll(async () => (await ada.call("POST", "/workspaces", { name })).status).toBe(201);
  expect((await inside(ada, name).call("GET", "/agents")).body.data).toEqual([]);
});

test("automations of a deleted workspace rest until it is restored", async () => {
  const ada = await people.person();
  const name = await people.newWorkspace(ada);
  const team = inside(ada, name);
  const trigger = { type: "schedule", cron: "0 0 1 1 *", timeZone: "UTC" };
  for (const client of [team, ada]) {
    await client.createAgent("ada");
    const asked = { name: "rests", agent: "ada", message: "hello", trigger };
    expect((await client.call("POST", "/automations", asked)).status).toBe(201);
  }
  const id = (await team.call("GET", "/me")).body.workspace.id;
  expect((await ada.call("DELETE", `/workspaces/${id}?force=true`)).status).toBe(202);
  await sql`
    update automations set next_run_at = now() - (case when account_id = ${id} then interval '2 s' else interval '1 s' end)
    where name = 'rests'`.execute(database);
  const look = () => ada.call("PATCH", "/automations/rests", { timeout: 5 });
  await look();
  const runsOf = async (client: TestClient) => (await client.call("GET", "/automations/rests/runs")).body.data;
  await expect.poll(() => runsOf(ada)).toMatchObject([{ status: "completed" }]);
  const begun = await sql`
    select from automation_runs r join automations a on a.id = r.automation_id where a.account_id = ${id}`.execute(
    database,
  );
  expect(begun.rows).toEqual([]);
  expect((await ada.call("POST", `/deleted-workspaces/${id}/restore`)).status).toBe(200);
  await look();
  await expect.poll(() => runsOf(team)).toMatchObject([{ status: "completed" }]);
});
