import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { accept, inside, PeoplesService } from "../support/people.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let people: PeoplesService;
let service: ScriptedService;
let database: Database;
beforeAll(async () => {
  people = await PeoplesService.start();
  ({ service } = people);
  database = await databaseOf(service);
});
afterAll(async () => {
  await database.destroy();
  await people[Symbol.asyncDispose]();
});

const idOf = async (client: TestClient) => (await client.call("GET", "/me")).body.person.id as string;
const newName = (prefix?: string) => people.newName(prefix);
const members = (workspace: string) => `/workspaces/${encodeURIComponent(workspace)}/members`;

describe("people", () => {
  test("have a personal workspace with starting credits from their first request on", async () => {
    const ada = await people.person({
      name: "Ada Lövelace",
      email: "ada@example.com",
      email_verified: true,
      zoneinfo: "Europe/Berlin",
    });
    const { body } = await ada.call("GET", "/me");
    expect(body.person).toMatchObject({
      name: "Ada Lövelace",
      email: "ada@example.com",
      emailVerified: true,
      timeZone: "Europe/Berlin",
    });
    expect(body.workspace).toMatchObject({ name: "Ada Lövelace", personal: true, role: "owner" });
    expect(body.memberships).toEqual([body.workspace]);
    expect((await ada.call("GET", "/billing")).body.balance).toBe("100");
  });

  test("keep their row when their name or address changes", async () => {
    const sub = newName("subject");
    const before = await idOf(await people.person({ sub, name: "Ada" }));
    const after = await people.person({ sub, name: "Ada King", email: "king@example.com" });
    expect(await idOf(after)).toBe(before);
    await expect
      .poll(async () => (await after.call("GET", "/me")).body.person)
      .toMatchObject({ name: "Ada King", email: "king@example.com", emailVerified: false });
  });

  test("are created once by concurrent first requests", async () => {
    const token = await people.issuer.sign({ sub: "hasty" });
    const client = new TestClient(service.server.url, token);
    const ids = await Promise.all(Array.from({ length: 8 }, () => idOf(client)));
    expect(new Set(ids).size).toBe(1);
  });
});

describe("a workspace", () => {
  test("is chosen by its name in any case, or by its id; a key needs no choice", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada, "Übung 東京");
    const { body: me } = await inside(ada, "übung 東京").call("GET", "/me");
    expect(me.workspace).toMatchObject({ name, personal: false, role: "owner" });
    expect((await inside(ada, me.workspace.id).call("POST", "/agents", { name: "inside" })).status).toBe(201);
    const { key } = (await inside(ada, name).call("POST", "/keys", {})).body;
    const withKey = new TestClient(ada.url, key);
    expect((await withKey.call("GET", "/agents")).body.data).toMatchObject([{ name: "inside" }]);
    expect((await inside(withKey, name).call("GET", "/agents")).status).toBe(200);
    expect((await inside(withKey, "personal").call("GET", "/agents")).body.code).toBe("workspace_not_found");
    expect((await ada.call("GET", "/agents")).body.data).toEqual([]);
    expect((await inside(ada, "personal").call("GET", "/agents")).body.data).toEqual([]);
  });

  test("that the caller is not in cannot be chosen, and looks like one that does not exist", async () => {
    const name = await people.newWorkspace(await people.person());
    const stranger = await people.person();
    const [foreign, missing] = [name, "no such workspace"].map((each) => inside(stranger, each).call("GET", "/agents"));
    expect([(await foreign!).status, (await foreign!).body]).toEqual([404, (await missing!).body]);
    const { status, body } = await stranger.call("GET", "/agents", undefined, { "berth-workspace": "%E0%A4%A" });
    expect([status, body.code]).toEqual([400, "request_invalid"]);
  });

  test("begins without credits, and gets none when the server restarts", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada, newName(), "0");
    expect((await inside(ada, name).call("GET", "/billing")).body.balance).toBe("0");
    await service.restart();
    const again = new TestClient(service.server.url, ada.key, name);
    expect((await again.call("GET", "/billing")).body.balance).toBe("0");
    expect((await again.call("POST", "/agents", { name: "ada" })).body.code).toBe("insufficient_credits");
  });

  test("has a name that no other has, in any case", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada, newName("Ops"));
    const bob = await people.person();
    expect((await bob.call("POST", "/workspaces", { name: name.toUpperCase() })).body.code).toBe("workspace_exists");
    const other = await people.newWorkspace(bob);
    const path = `/workspaces/${encodeURIComponent(other)}`;
    expect((await bob.call("PATCH", path, { name })).body.code).toBe("workspace_exists");
    const renamed = newName("renamed");
    expect((await bob.call("PATCH", path, { name: renamed })).body).toMatchObject({ name: renamed });
    expect((await bob.call("GET", "/workspaces")).body.data.map((each: { name: string }) => each.name)).toContain(
      renamed,
    );
    for (const wrong of ["", " x", "a".repeat(65), "0189f7e2-0000-7000-8000-000000000000", "a\nb"]) {
      expect([wrong, (await bob.call("POST", "/workspaces", { name: wrong })).status]).toEqual([wrong, 400]);
    }
  });

  test("is created once for one Idempotency-Key", async () => {
    const ada = await people.person();
    const name = newName();
    const send = () => ada.call("POST", "/workspaces", { name }, { "idempotency-key": "once" });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.body]).toEqual([201, first.body]);
  });

  test("is deleted when it has no agents; its keys end and its name is free", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    const team = inside(ada, name);
    const { key } = (await team.call("POST", "/keys", {})).body;
    await team.createAgent("ada");
    const path = `/workspaces/${encodeURIComponent(name)}`;
    expect((await ada.call("DELETE", path)).body.code).toBe("workspace_not_empty");
    await team.call("DELETE", "/agents/ada");
    expect((await ada.call("DELETE", path)).status).toBe(204);
    expect((await ada.call("DELETE", path)).status).toBe(404);
    expect((await new TestClient(ada.url, key).call("GET", "/agents")).status).toBe(401);
    expect((await team.call("GET", "/agents")).status).toBe(404);
    expect(await people.newWorkspace(await people.person(), name)).toBe(name);
    expect((await ada.call("DELETE", "/workspaces/personal")).body.code).toBe("workspace_is_personal");
  });

  test("has agents, keys, turns, audit log and credits of its own", async () => {
    const ada = await people.person();
    const [one, two] = [await people.newWorkspace(ada), await people.newWorkspace(ada)].map((name) =>
      inside(ada, name),
    );
    await one!.createAgent("same");
    await two!.createAgent("same");
    await one!.call("POST", "/keys", { name: "key of one" });
    const { data: keys } = (await two!.call("GET", "/keys")).body;
    const { data: audit } = (await two!.call("GET", "/audit")).body;
    expect(keys).toEqual([]);
    expect(audit.map(({ operation }: { operation: string }) => operation)).toEqual(["POST /agents"]);
    expect((await one!.call("DELETE", "/agents/same")).status).toBe(204);
    expect((await two!.call("GET", "/agents")).body.data).toMatchObject([{ name: "same" }]);
  });
});

describe("an invitation", () => {
  test("is good once", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    const token = await people.invite(ada, name, { role: "viewer" });
    const bob = await people.person();
    expect((await accept(bob, token)).body).toMatchObject({ name, role: "viewer", personal: false });
    expect((await accept(await people.person(), token)).body).toMatchObject({
      statusCode: 410,
      code: "invitation_ended",
    });
    expect((await accept(bob, await people.invite(ada, name))).body.code).toBe("member_exists");
    expect((await accept(bob, "no-such-token")).status).toBe(404);
  });

  test("is in the audit log of both workspaces when it is accepted", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    const bob = await people.person();
    await accept(bob, await people.invite(ada, name));
    for (const client of [inside(ada, name), bob]) {
      const { data } = (await client.call("GET", "/audit?limit=1")).body;
      expect(data).toMatchObject([{ operation: "POST /invitations/{token}/accept", status: 200 }]);
    }
  });

  test("is good once for several who use it in the same moment", async () => {
    const ada = await people.person();
    const token = await people.invite(ada, await people.newWorkspace(ada));
    const guests = await Promise.all(Array.from({ length: 5 }, () => people.person()));
    const statuses = await Promise.all(guests.map(async (each) => (await accept(each, token)).status));
    expect(statuses.toSorted()).toEqual([200, 410, 410, 410, 410]);
  });

  test("ends when it is revoked, after seven days, and with the rights of who made it", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    const path = `/workspaces/${encodeURIComponent(name)}/invitations`;
    const revoked = await ada.call("POST", path, {});
    expect((await ada.call("GET", path)).body.data).toMatchObject([
      { id: revoked.body.id, role: "member", email: null },
    ]);
    expect((await ada.call("DELETE", `${path}/${revoked.body.id}`)).status).toBe(204);
    expect((await ada.call("DELETE", `${path}/${revoked.body.id}`)).status).toBe(404);
    expect((await accept(await people.person(), revoked.body.token)).status).toBe(410);

    const old = await ada.call("POST", path, {});
    expect(Date.parse(old.body.expiresAt) - Date.parse(old.body.createdAt)).toBe(7 * 24 * 3_600_000);
    await database.updateTable("invitations").set({ expires_at: new Date() }).where("id", "=", old.body.id).execute();
    expect((await accept(await people.person(), old.body.token)).status).toBe(410);
    expect((await ada.call("GET", path)).body.data).toEqual([]);

    const admin = await people.join(ada, name, "admin");
    const theirs = await people.invite(admin, name);
    await ada.call("PATCH", `${members(name)}/${await idOf(admin)}`, { role: "member" });
    expect((await accept(await people.person(), theirs)).status).toBe(410);
  });

  test("is accepted or has ended when its maker is removed in the same moment", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    for (let round = 0; round < 3; round++) {
      const admin = await people.join(ada, name, "admin");
      const guests = await Promise.all(Array.from({ length: 4 }, () => people.person()));
      const tokens = await Promise.all(guests.map(() => people.invite(admin, name)));
      const path = `${members(name)}/${await idOf(admin)}`;
      const [removed, ...accepted] = await Promise.all([
        ada.call("DELETE", path),
        ...guests.map((guest, at) => accept(guest, tokens[at]!)),
      ]);
      expect(removed.status).toBe(204);
      for (const { status } of accepted) expect([200, 410]).toContain(status);
    }
  });

  test("for an address is refused to people with another, or with the same unverified", async () => {
    const ada = await people.person();
    const token = await people.invite(ada, await people.newWorkspace(ada), { email: "Bob@Example.com" });
    const email = "bob@example.com";
    for (const claims of [
      {},
      { email: "eve@example.com", email_verified: true },
      { email, email_verified: false },
      { email },
    ]) {
      expect((await accept(await people.person(claims), token)).status).toBe(403);
    }
    expect((await accept(await people.person({ email, email_verified: true }), token)).status).toBe(200);
    const wrong = await ada.call("POST", "/workspaces/personal/invitations", { email: "bob" });
    expect([wrong.status, wrong.body.message]).toEqual([400, "email: Must be an e-mail address."]);
  });
});

describe("a member", () => {
  test("grants nobody more than they have", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    const admin = await people.join(ada, name, "admin");
    const member = await people.join(ada, name, "member");
    const path = `/workspaces/${encodeURIComponent(name)}/invitations`;
    expect((await admin.call("POST", path, { role: "owner" })).status).toBe(403);
    expect((await admin.call("PATCH", `${members(name)}/${await idOf(member)}`, { role: "owner" })).status).toBe(403);
    for (const [method, body] of [["PATCH", { role: "viewer" }], ["DELETE"]] as const) {
      expect((await admin.call(method, `${members(name)}/${await idOf(ada)}`, body)).status).toBe(403);
    }
    expect((await admin.call("PATCH", `${members(name)}/${await idOf(member)}`, { role: "viewer" })).status).toBe(200);
    expect((await member.call("POST", "/keys", {})).status).toBe(403);
    expect((await admin.call("POST", "/keys", { role: "owner" })).status).toBe(403);
    expect((await admin.call("POST", "/keys", { role: "viewer" })).body).toMatchObject({ role: "viewer" });
    expect((await admin.call("POST", "/keys", {})).body).toMatchObject({ role: "admin" });
  });

  test("has keys with no higher role than their own, now and later", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    await inside(ada, name).createAgent("ada");
    const admin = await people.join(ada, name, "admin");
    const full = new TestClient(ada.url, (await admin.call("POST", "/keys", {})).body.key);
    const narrow = new TestClient(
      ada.url,
      (await admin.call("POST", "/keys", { kind: "agent", agents: ["ada"] })).body.key,
    );
    expect((await full.call("GET", `/workspaces/${encodeURIComponent(name)}/invitations`)).status).toBe(200);
    expect((await narrow.chat("ada", "hello")).text).toBe("hello");
    await ada.call("PATCH", `${members(name)}/${await idOf(admin)}`, { role: "viewer" });
    expect((await full.call("GET", `/workspaces/${encodeURIComponent(name)}/invitations`)).status).toBe(403);
    expect((await full.call("GET", "/me")).body.workspace).toMatchObject({ role: "viewer" });
    expect((await narrow.call("POST", "/agents/ada/chat", { message: "hello" })).status).toBe(403);
    expect((await narrow.call("GET", "/agents/ada")).status).toBe(200);
  });

  test("who is no admin sees and revokes their own keys only", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    const [one, two] = [await people.join(ada, name, "member"), await people.join(ada, name, "member")];
    const { id } = (await one.call("POST", "/keys", { name: "of one" })).body;
    expect((await two.call("GET", "/keys")).body.data).toEqual([]);
    expect((await two.call("DELETE", `/keys/${id}`)).status).toBe(404);
    expect((await one.call("GET", "/keys")).body.data).toMatchObject([{ id }]);
    expect((await inside(ada, name).call("GET", "/keys")).body.data).toMatchObject([{ id }]);
    expect((await inside(ada, name).call("DELETE", `/keys/${id}`)).status).toBe(204);
  });

  test("can leave, but the last owner cannot, nor become less", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    const viewer = await people.join(ada, name, "viewer");
    const { data } = (await viewer.call("GET", members(name))).body;
    expect(data.map(({ role }: { role: string }) => role)).toEqual(["owner", "viewer"]);
    const [own, theirs] = [`${members(name)}/${await idOf(ada)}`, `${members(name)}/${await idOf(viewer)}`];
    expect((await viewer.call("DELETE", own)).status).toBe(403);
    expect((await ada.call("DELETE", own)).body.code).toBe("last_owner");
    expect((await ada.call("PATCH", own, { role: "admin" })).body.code).toBe("last_owner");
    expect((await viewer.call("DELETE", theirs)).status).toBe(204);
    expect((await viewer.call("GET", "/agents")).status).toBe(404);
    expect((await ada.call("DELETE", theirs)).body.code).toBe("member_not_found");
    expect((await ada.call("DELETE", `${members(name)}/nobody`)).body.code).toBe("member_not_found");
  });

  test("one of two owners who leave in the same moment stays", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    const bob = await people.join(ada, name, "owner");
    const paths = [`${members(name)}/${await idOf(ada)}`, `${members(name)}/${await idOf(bob)}`];
    const [first, second] = await Promise.all([ada.call("DELETE", paths[0]!), bob.call("DELETE", paths[1]!)]);
    expect([first.status, second.status].toSorted()).toEqual([204, 409]);
  });

  test("always owns their personal workspace", async () => {
    const ada = await people.person();
    const { id } = (await ada.call("GET", "/me")).body.workspace;
    const bob = await people.join(ada, id, "owner");
    expect((await bob.call("DELETE", `/workspaces/${id}/members/${await idOf(ada)}`)).body.code).toBe(
      "workspace_is_personal",
    );
    expect((await ada.call("GET", "/agents")).status).toBe(200);
  });

  test("takes their keys and invitations with them", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    const admin = await people.join(ada, name, "admin");
    const token = await people.invite(admin, name);
    const { key } = (await admin.call("POST", "/keys", {})).body;
    const personal = new TestClient(ada.url, admin.key);
    const { key: own } = (await personal.call("POST", "/keys", {})).body;
    expect((await ada.call("DELETE", `${members(name)}/${await idOf(admin)}`)).status).toBe(204);
    expect((await new TestClient(ada.url, key).call("GET", "/agents")).status).toBe(401);
    expect((await new TestClient(ada.url, own).call("GET", "/agents")).status).toBe(200);
    expect((await accept(await people.person(), token)).status).toBe(410);
    expect((await inside(ada, name).call("GET", "/keys")).body.data).toEqual([]);
  });

  test("of a page of members is followed by the next page", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    for (let each = 0; each < 4; each++) await people.join(ada, name, "viewer");
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await ada.call("GET", `${members(name)}?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor;
    }
    expect(new Set(seen).size).toBe(5);
    const { nextCursor } = (await ada.call("GET", `${members(name)}?limit=2`)).body;
    expect((await ada.call("DELETE", `${members(name)}/${seen[1]}`)).status).toBe(204);
    const { data } = (await ada.call("GET", `${members(name)}?limit=10&cursor=${nextCursor}`)).body;
    expect(data.map(({ id }: { id: string }) => id)).toEqual(seen.slice(2));
  });

  test("who is a viewer gets events of agents and turns, and none of credits or keys", async () => {
    const ada = await people.person();
    const { id } = (await ada.call("GET", "/me")).body.workspace;
    const viewer = await people.join(ada, id, "viewer");
    const response = await viewer.fetch("GET", "/events");
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader.read()).value ?? "";
    await ada.call("POST", "/keys", {});
    await ada.createAgent("ada");
    await ada.chat("ada", "hello");
    while (!text.includes("turn.ended")) text += (await reader.read()).value;
    await reader.cancel();
    expect(text).toContain("agent.created");
    expect(text).not.toMatch(/key\.created|credits\.changed/);
  });

  test("gets nothing of another's answer by using the same Idempotency-Key", async () => {
    const ada = await people.person();
    const name = await people.newWorkspace(ada);
    const [one, two] = [await people.join(ada, name, "member"), await people.join(ada, name, "member")];
    const made = await Promise.all(
      [one, two].map((each) => each.call("POST", "/keys", {}, { "idempotency-key": "same" })),
    );
    expect(made.map(({ status }) => status)).toEqual([201, 201]);
    expect(made[0]!.body.key).not.toBe(made[1]!.body.key);
  });

  test("who is a viewer sees no names of secrets, and only the MCP tools that read", async () => {
    const ada = await people.person();
    const { id } = (await ada.call("GET", "/me")).body.workspace;
    const mcpServers = {
      tracker: { url: "https://example.com", headers: { authorization: "Bearer \u0024{TRACKER_TOKEN}" } },
    };
    await ada.createAgent("ada", { mcpServers });
    const viewer = await people.join(ada, id, "viewer");
    for (const path of ["/agents", "/agents/ada"]) {
      expect(JSON.stringify((await viewer.call("GET", path)).body)).not.toContain("TRACKER_TOKEN");
    }
    expect((await viewer.call("GET", "/agents/ada/secrets")).status).toBe(403);
    const accept = "application/json, text/event-stream";
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const answer: string = (await viewer.call("POST", "/mcp", list, { accept })).body;
    const tools = [...answer.matchAll(/"name":"(\w+)"/g)].map(([, tool]) => tool);
    expect(tools).toEqual(["list_agents", "get_turn", "read_file", "list_files"]);
  });

  test("who is a viewer reads files with a ticket, and gets no ticket for anything else", async () => {
    const ada = await people.person();
    const { id } = (await ada.call("GET", "/me")).body.workspace;
    await ada.createAgent("ada");
    await ada.call("PUT", "/agents/ada/files/note.txt", "hello", { "content-type": "application/octet-stream" });
    const viewer = await people.join(ada, id, "viewer");
    const tickets = "/agents/ada/tickets";
    const { ticket } = (await viewer.call("POST", tickets, { for: "file", path: "note.txt" })).body;
    expect(await (await fetch(`${ada.url}/agents/ada/files/note.txt?ticket=${ticket}`)).text()).toBe("hello");
    for (const asked of [{ for: "terminal" }, { for: "preview", port: 3000 }]) {
      expect((await viewer.call("POST", tickets, asked)).status).toBe(403);
    }
  });
});

test("a member of the operator's workspace does not administer the installation", async () => {
  const { id } = (await service.client.call("GET", "/me")).body.workspace;
  const admin = await people.join(service.client, id, "owner");
  expect((await admin.call("GET", "/account")).body).toMatchObject({ operator: false });
  expect((await admin.call("GET", "/admin/capacity")).status).toBe(403);
  const { key } = (await admin.call("POST", "/keys", {})).body;
  expect((await new TestClient(admin.url, key).call("GET", "/admin/capacity")).status).toBe(403);
});

test("a signed-in person who guesses names of workspaces is limited like one who guesses keys", async () => {
  await using limited = await ScriptedService.start({
    oidc: { issuer: people.issuer.url, audience: people.issuer.audience, clientId: "berth", unknownKeyMs: 600_000 },
    rateLimits: { ...service.config.rateLimits, address: 3 },
  });
  const eve = new TestClient(limited.server.url, await people.issuer.sign({ sub: "eve" }));
  const statuses: number[] = [];
  for (let each = 0; each < 5; each++)
    statuses.push((await inside(eve, `guess ${each}`).call("GET", "/agents")).status);
  expect(statuses).toEqual([404, 404, 404, 429, 429]);
  expect((await eve.call("GET", "/agents")).status).toBe(200);
});
