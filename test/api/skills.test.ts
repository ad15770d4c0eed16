import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importArchive } from "../support/archives.ts";
import type { TestClient } from "../support/client.ts";
import { authorOf, inside, PeoplesService } from "../support/people.ts";
import { described, putArchive, putSkill, skillText } from "../support/skill-archives.ts";

// Skills of a workspace, as its members add them and its agents have them in their machines.

let people: PeoplesService;
let workspace: string;
let owner: TestClient;
let member: TestClient;

beforeAll(async () => {
  people = await PeoplesService.start();
  const person = await people.person({ name: "Olga" });
  workspace = await people.newWorkspace(person);
  owner = inside(person, workspace);
  member = await people.join(owner, workspace, "member");
});
afterAll(() => people[Symbol.asyncDispose]());

const remove = (...names: string[]) =>
  Promise.all(
    names.map((name) => owner.call("DELETE", `/skills/${name}`).then(({ status }) => expect(status).toBe(204))),
  );

/** The files of each skill in an agent's machine, as its runtime sees them in a turn. */
const skillsOf = async (agent: string, client = owner): Promise<Record<string, string[]>> =>
  JSON.parse(await client.ask(agent, "skills"));

describe("a skill of a workspace", () => {
  test("is added, shown, replaced and deleted", async () => {
    const text = skillText("pdf-forms", described, "allowed-tools: Read", "metadata: {version: 2}");
    const made = await putSkill(owner, "pdf-forms", { "SKILL.md": text, "scripts/a.py": { mode: 0o755, text: "a" } });
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      name: "pdf-forms",
      description: "Explains how. Use it when asked.",
      license: null,
      compatibility: null,
      metadata: { version: "2" },
      allowedTools: ["Read"],
      programs: ["scripts/a.py"],
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      size: text.length + 1,
      source: { type: "archive" },
      agents: null,
      createdBy: await authorOf(owner, "Olga"),
      createdAt: expect.any(String),
      updatedAt: made.body.createdAt,
      instructions: text,
      files: [
        { path: "SKILL.md", size: text.length, executable: false },
        { path: "scripts/a.py", size: 1, executable: true },
      ],
    });
    expect((await member.call("GET", "/skills/pdf-forms")).body).toEqual(made.body);
    const { instructions: _, files: __, ...summary } = made.body;
    expect((await member.call("GET", "/skills")).body).toEqual({ data: [summary], nextCursor: null });
    const again = await putSkill(owner, "pdf-forms");
    expect(again).toMatchObject({ status: 200, body: { createdAt: made.body.createdAt, programs: [] } });
    expect(again.body.hash).not.toBe(made.body.hash);
    await remove("pdf-forms");
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await owner.call(method, "/skills/pdf-forms", method === "PUT" ? { agents: [] } : undefined);
      expect(answer).toMatchObject({ status: 404, body: { code: "skill_not_found" } });
    }
  });

  test("is refused if it is not valid, and the earlier one stays", async () => {
    const { body } = await putSkill(owner, "kept");
    for (const [answer, code, said] of [
      [await putSkill(owner, "kept", { "SKILL.md": skillText("other", described) }), "skill_invalid", "the name other"],
      [await putSkill(owner, "kept", { a: "b" }), "skill_invalid", "no SKILL.md"],
      [await putArchive(owner, "kept", Buffer.alloc(0)), "skill_invalid", "the archive is empty"],
      [await putSkill(owner, "kept", undefined, `?hash=${"0".repeat(64)}`), "skill_changed", body.hash],
      [await putSkill(owner, "kept", undefined, "?hash=0"), "request_invalid", "64 characters"],
      [await putSkill(owner, "kept", undefined, "?agents=nobody"), "request_invalid", "there is no agent nobody"],
      [await putSkill(owner, "kept", undefined, "?agents=Not,A"), "request_invalid", "agents"],
      [await putSkill(owner, "kept", undefined, "?other=1"), "request_invalid", "other"],
      [await putSkill(owner, "Not-A-Name"), "request_invalid", "a-z, 0-9"],
      [await putArchive(owner, "kept", Buffer.alloc(8 * 1024 ** 2 + 1)), "body_too_large", "8 MiB"],
    ] as const) {
      expect(answer.body.code).toBe(code);
      expect(answer.body.message).toContain(said);
    }
    expect((await owner.call("GET", "/skills/kept")).body).toEqual(body);
    expect((await putSkill(owner, "kept", undefined, `?hash=${body.hash}`)).status).toBe(200);
    await remove("kept");
  });

  test("is one of up to 50, with up to 32 MiB together, however many are added at once", async () => {
    const other = inside(await people.person(), "personal");
    const set = (number: number) => putSkill(other, `s-${number}`);
    const answers = await Promise.all(Array.from({ length: 55 }, (_, number) => set(number)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(Array(5).fill([409, "too_many_skills"]));
    const names: string[] = (await other.call("GET", "/skills")).body.data.map(({ name }: { name: string }) => name);
    const large = (name: string) =>
      putSkill(other, name, { "SKILL.md": skillText(name, described), data: Buffer.alloc(4 * 1024 ** 2 - 1024) });
    for (const name of names.slice(0, 8)) expect((await large(name)).status).toBe(200);
    expect((await large(names[8]!)).body.code).toBe("skills_full");
    expect((await large(names[0]!)).status).toBe(200);
    expect((await other.call("DELETE", `/skills/${names[0]}`)).status).toBe(204);
    expect((await large(names[8]!)).status).toBe(200);
  });
});

describe("agents", () => {
  test("have the skills of all and those that list them, from their next turn", async () => {
    for (const name of ["ada", "bob"]) await owner.createAgent(name);
    expect(await skillsOf("ada")).toEqual({});
    await putSkill(owner, "for-all", {
      "for-all/SKILL.md": skillText("for-all", described),
      "for-all/scripts/deep/run.sh": { mode: 0o755, text: "echo" },
    });
    await putSkill(owner, "for-ada", undefined, "?agents=ada");
    expect(await skillsOf("ada")).toEqual({ "for-ada": ["SKILL.md"], "for-all": ["SKILL.md", "scripts/deep/run.sh*"] });
    expect(await skillsOf("bob")).toEqual({ "for-all": ["SKILL.md", "scripts/deep/run.sh*"] });
    const moved = await owner.call("PUT", "/skills/for-ada", { agents: ["bob"] });
    expect(moved).toMatchObject({ status: 200, body: { agents: ["bob"] } });
    await putSkill(owner, "for-all", { "SKILL.md": skillText("for-all", described), "b.md": "b" });
    expect(await skillsOf("ada")).toEqual({ "for-all": ["SKILL.md", "b.md"] });
    expect(Object.keys(await skillsOf("bob"))).toEqual(["for-ada", "for-all"]);
    // Without the query, the list stays.
    expect((await putSkill(owner, "for-ada")).body.agents).toEqual(["bob"]);
    expect((await owner.call("PUT", "/skills/for-ada", {})).body.agents).toEqual(["bob"]);
    expect((await putSkill(owner, "for-ada", undefined, "?agents=")).body.agents).toEqual([]);
    expect((await owner.call("PUT", "/skills/for-ada", { agents: null })).body.agents).toBeNull();
    expect(Object.keys(await skillsOf("ada"))).toEqual(["for-ada", "for-all"]);
    await remove("for-all", "for-ada");
    expect([await skillsOf("ada"), await skillsOf("bob")]).toEqual([{}, {}]);
  });

  test("that sleep have the current skills after they wake", async () => {
    await owner.createAgent("sleeper");
    await putSkill(owner, "gone");
    expect(Object.keys(await skillsOf("sleeper"))).toEqual(["gone"]);
    await owner.call("POST", "/agents/sleeper/suspend");
    await expect.poll(async () => (await owner.call("GET", "/agents/sleeper")).body.status).toBe("suspended");
    await remove("gone");
    await putSkill(owner, "new");
    expect(Object.keys(await skillsOf("sleeper"))).toEqual(["new"]);
    await remove("new");
  });

  test("that are rolled back have today's skills", async () => {
    await owner.createAgent("rolled", { autoSnapshot: 0 });
    await putSkill(owner, "then");
    await skillsOf("rolled");
    await owner.call("POST", "/agents/rolled/snapshots", { name: "then" });
    await remove("then");
    await putSkill(owner, "now");
    expect((await owner.call("POST", "/agents/rolled/rollback?wait=ready", { snapshot: "then" })).status).toBe(200);
    expect(Object.keys(await skillsOf("rolled"))).toEqual(["now"]);
    await remove("now");
  });

  test("that are deleted leave the list, and a new one of the name is not on it", async () => {
    await owner.createAgent("short-lived");
    await putSkill(owner, "listed", undefined, "?agents=short-lived");
    await owner.call("DELETE", "/agents/short-lived");
    await expect.poll(async () => (await owner.call("GET", "/skills/listed")).body.agents).toEqual([]);
    await owner.createAgent("short-lived");
    expect(await skillsOf("short-lived")).toEqual({});
    await remove("listed");
  });

  test("that are forks have the skills of their source", async () => {
    await owner.createAgent("source", { autoSnapshot: 0 });
    await putSkill(owner, "of-source", undefined, "?agents=source");
    await skillsOf("source");
    await owner.createAgent("fork", { from: { agent: "source" } });
    expect((await owner.call("GET", "/skills/of-source")).body.agents).toEqual(["fork", "source"]);
    expect(Object.keys(await skillsOf("fork"))).toEqual(["of-source"]);
    await remove("of-source");
    expect(await skillsOf("fork")).toEqual({});
  });
});

describe("who may", () => {
  test("members read, and only admins and owners change", async () => {
    const [admin, viewer] = [
      await people.join(owner, workspace, "admin"),
      await people.join(owner, workspace, "viewer"),
    ];
    expect((await putSkill(admin, "roles")).status).toBe(201);
    for (const client of [member, viewer]) {
      expect(await putSkill(client, "roles")).toMatchObject({ status: 403, body: { code: "forbidden" } });
      expect((await client.call("PUT", "/skills/roles", { agents: [] })).status).toBe(403);
      expect((await client.call("DELETE", "/skills/roles")).status).toBe(403);
    }
    expect((await member.call("GET", "/skills")).body.data).toHaveLength(1);
    expect((await viewer.call("GET", "/skills")).status).toBe(403);
    expect((await viewer.call("GET", "/skills/roles")).status).toBe(403);
    await remove("roles");
  });

  test("other workspaces see and have none of it, also by its hash", async () => {
    const { body: ours } = await putSkill(owner, "ours");
    const stranger = await people.person();
    const theirs = inside(stranger, await people.newWorkspace(stranger));
    expect((await theirs.call("GET", "/skills")).body.data).toEqual([]);
    expect((await theirs.call("GET", "/skills/ours")).status).toBe(404);
    expect((await theirs.call("DELETE", "/skills/ours")).status).toBe(404);
    expect((await putSkill(inside(stranger, workspace), "ours")).status).toBe(404);
    await owner.createAgent("same-name", { autoSnapshot: 0 });
    await theirs.createAgent("same-name");
    expect(Object.keys(await skillsOf("same-name"))).toEqual(["ours"]);
    expect(await skillsOf("same-name", theirs)).toEqual({});
    const path = `/skills/ours/${ours.hash}`;
    expect(await owner.ask("same-name", `get ${path}`)).toContain("200");
    expect(await theirs.ask("same-name", `get ${path}`)).toContain("404");
    for (const wrong of [
      "/skills/ours/0",
      "/skills/",
      `/skills/ours/${"0".repeat(64)}`,
      `/skills/../ours/${ours.hash}`,
    ])
      expect(await owner.ask("same-name", `get ${wrong}`)).toContain("404");
    // An agent that is imported has the skills of where it arrives.
    const archive = Buffer.from(await (await owner.fetch("GET", "/agents/same-name/export")).arrayBuffer());
    const headers = { "berth-workspace": encodeURIComponent(theirs.workspace!) };
    const imported = await importArchive(theirs, archive, { query: "?name=arrived&wait=ready", headers });
    expect(imported.status).toBe(201);
    expect(await skillsOf("arrived", theirs)).toEqual({});
    await remove("ours");
  });

  test("a private agent is named to its maker and to admins only", async () => {
    await member.createAgent("hidden", { private: true });
    await putSkill(owner, "for-hidden", undefined, "?agents=hidden");
    const colleague = await people.join(owner, workspace, "member");
    const agents = async (client: TestClient) => (await client.call("GET", "/skills/for-hidden")).body.agents;
    expect([await agents(owner), await agents(member), await agents(colleague)]).toEqual([["hidden"], ["hidden"], []]);
    expect(Object.keys(await skillsOf("hidden", member))).toEqual(["for-hidden"]);
    await remove("for-hidden");
  });
});

test("changes are events and audit entries, with the name alone", async () => {
  const events = await owner.fetch("GET", "/events");
  const reader = events.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  await reader.next();
  await putSkill(owner, "told");
  await owner.call("PUT", "/skills/told", { agents: [] });
  await owner.call("DELETE", "/skills/told");
  let text = "";
  while (!text.includes("skill.deleted")) text += (await reader.next()).value;
  await reader.return?.();
  const seen = [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!));
  expect(seen.filter(({ skill }) => skill === "told").map(({ type }) => type)).toEqual([
    "skill.created",
    "skill.changed",
    "skill.deleted",
  ]);
  const { data } = (await owner.call("GET", "/audit?limit=3")).body;
  expect(data.map((entry: { operation: string; resource: string }) => [entry.operation, entry.resource])).toEqual([
    ["DELETE /skills/{skill}", "told"],
    ["PUT /skills/{skill}", "told"],
    ["PUT /skills/{skill}/archive", "told"],
  ]);
});
