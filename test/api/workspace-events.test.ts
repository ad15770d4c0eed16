import { type AccountEvent, Berth } from "@berth/client";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { inside, PeoplesService } from "../support/people.ts";

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

const idOf = async (client: TestClient) => (await client.call("GET", "/me")).body.person.id as string;
const newName = () => people.newName();
const members = (workspace: string) => `/workspaces/${encodeURIComponent(workspace)}/members`;

/** The events of members, keys and the workspace that the client gets after `work`, up to the type `last`. */
async function eventsOf(client: TestClient, last: string, work: () => Promise<unknown>): Promise<AccountEvent[]> {
  const { url, key, workspace } = client;
  const events = new Berth({ url, key, workspace }).events()[Symbol.asyncIterator]();
  await events.next();
  await work();
  const seen: AccountEvent[] = [];
  while (seen.at(-1)?.type !== last) seen.push((await events.next()).value);
  await events.return(undefined);
  return seen.filter(({ type }) => /^(member|invitation|workspace|key)\./.test(type));
}

test("events report members, invitations and the workspace's name to its owner", async () => {
  const owner = await people.person();
  const name = await people.newWorkspace(owner);
  const ops = inside(owner, name);
  const next = newName();
  const seen = await eventsOf(ops, "workspace.renamed", async () => {
    const eve = await people.join(owner, name, "member", { name: "Eve" });
    const id = await idOf(eve);
    await ops.call("PATCH", `${members(name)}/${id}`, { role: "admin" });
    await ops.call("PATCH", `${members(name)}/${id}`, { role: "admin" });
    await eve.call("DELETE", `${members(name)}/${id}`);
    const invited = await ops.call("POST", `/workspaces/${encodeURIComponent(name)}/invitations`, {
      email: "eve@example.com",
    });
    await ops.call("DELETE", `/workspaces/${encodeURIComponent(name)}/invitations/${invited.body.id}`);
    await ops.call("PATCH", `/workspaces/${encodeURIComponent(name)}`, { name: next });
  });
  expect(seen.map(({ id: _, at: __, ...event }) => event)).toEqual([
    { type: "invitation.created", invitationId: expect.any(String), role: "member", email: null },
    { type: "member.joined", personId: expect.any(String), name: "Eve", role: "member" },
    { type: "invitation.accepted", invitationId: expect.any(String), role: "member", email: null },
    { type: "member.changed", personId: expect.any(String), name: "Eve", role: "admin" },
    { type: "member.removed", personId: expect.any(String), name: "Eve", role: "admin" },
    { type: "invitation.created", invitationId: expect.any(String), role: "member", email: "eve@example.com" },
    { type: "invitation.revoked", invitationId: expect.any(String), role: "member", email: "eve@example.com" },
    { type: "workspace.renamed", name: next },
  ]);
});

test("events show a member the keys that the list of keys shows", async () => {
  const owner = await people.person();
  const name = await people.newWorkspace(owner);
  const member = await people.join(owner, name, "member");
  const make = (client: TestClient, label: string) => client.call("POST", "/keys", { name: label });
  const madeBy = (client: TestClient) =>
    eventsOf(client, "key.revoked", async () => {
      await make(inside(owner, name), "the owner's");
      const { id } = (await make(member, "the member's")).body;
      await member.call("DELETE", `/keys/${id}`);
    });
  const names = async (client: TestClient) =>
    (await madeBy(client)).map((event) => ("name" in event ? event.name : null));
  expect(await names(member)).toEqual(["the member's", "the member's"]);
  expect(await names(inside(owner, name))).toEqual(["the owner's", "the member's", "the member's"]);
});

test("events show invitations to managers only, and what a new role sees from its change on", async () => {
  const owner = await people.person();
  const name = await people.newWorkspace(owner);
  const viewer = await people.join(owner, name, "viewer");
  const id = await idOf(viewer);
  const seen = await eventsOf(viewer, "invitation.created", async () => {
    await people.invite(owner, name);
    await inside(owner, name).call("POST", "/keys", {});
    await inside(owner, name).call("PATCH", `${members(name)}/${id}`, { role: "admin" });
    await people.invite(owner, name, { role: "viewer" });
  });
  expect(seen).toMatchObject([
    { type: "member.changed", personId: id, role: "admin" },
    { type: "invitation.created", role: "viewer" },
  ]);
});

test("events are absent for a workspace that is deleted", async () => {
  const owner = await people.person();
  const name = await people.newWorkspace(owner);
  const { id } = (await inside(owner, name).call("GET", "/me")).body.workspace;
  await people.join(owner, name, "viewer");
  const count = () =>
    sql<{ count: string }>`select count(*) from account_events where account_id = ${id}`.execute(database);
  const before = await count();
  expect((await owner.call("DELETE", `/workspaces/${encodeURIComponent(name)}`)).status).toBe(204);
  expect((await count()).rows).toEqual(before.rows);
});
