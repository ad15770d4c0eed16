import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseOf } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { inside, PeoplesService } from "../support/people.ts";
import { ChatGptServer, ClaudeServer } from "../support/subscription-servers.ts";

// Subscriptions of one person: seen and used by that person and their private agents alone.

const token = "sk-ant-oat01-a-token-of-mia";
const shared = "sk-ant-oat01-a-token-of-the-team";
const ask = "ask /anthropic/v1/messages";
const model = "claude/claude-sonnet-4-5";
const own = "?scope=person";

let people: PeoplesService;
let claude: ClaudeServer;
let vendor: ChatGptServer;
let owner: TestClient;
let mia: TestClient;
let max: TestClient;
let workspace: string;

beforeAll(async () => {
  [claude, vendor] = await Promise.all([ClaudeServer.start(), ChatGptServer.start()]);
  claude.tokens.add(token).add(shared);
  claude.models = ["claude-sonnet-4-5"];
  people = await PeoplesService.start({ subscriptions: { claude: claude.url, ...vendor.urls } });
  const alone = await people.person({ name: "olga" });
  workspace = await people.newWorkspace(alone, "team");
  owner = inside(alone, workspace);
  mia = await people.join(owner, workspace, "member", { name: "mia" });
  max = await people.join(owner, workspace, "member", { name: "max" });
  const { status, body } = await mia.call("POST", "/providers", asked);
  expect([status, body]).toMatchObject([201, { scope: "person", credential: "…-mia", login: { status: "connected" } }]);
});
afterAll(async () => {
  await people?.[Symbol.asyncDispose]();
  for (const server of [claude, vendor]) server?.[Symbol.dispose]();
});

const asked = { name: "claude", kind: "claude", apiKey: token, scope: "person" };
const namesOf = async (client: TestClient) =>
  (await client.call("GET", "/providers")).body.data.map(({ name }: { name: string }) => name);

describe("a person's subscription", () => {
  test("is seen by that person alone, signed in or with a key", async () => {
    expect(await namesOf(mia)).toEqual(["claude"]);
    const { key } = (await mia.call("POST", "/keys", {})).body;
    expect(await namesOf(new TestClient(mia.url, key))).toEqual(["claude"]);
    for (const other of [owner, max]) {
      expect(await namesOf(other)).toEqual([]);
      const { body } = await other.call("GET", "/models");
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual(["demo/demo"]);
      for (const [method, path, fields] of [
        ["PATCH", "/providers/claude", { apiKey: "sk-ant-oat01-other" }],
        ["POST", "/providers/claude/test", {}],
        ["POST", "/providers/claude/login", undefined],
        ["DELETE", "/providers/claude", undefined],
      ] as const) {
        expect((await other.call(method, `${path}${own}`, fields)).status, `${method} ${path}`).toBe(404);
      }
    }
    expect((await mia.call("POST", `/providers/claude/test${own}`, {})).body.ok).toBe(true);
  });

  test("is used by private agents of that person alone", async () => {
    await mia.createAgent("hers", { private: true, runtime: "claude-code", model });
    expect(await mia.ask("hers", ask)).toContain("demonstration model");
    expect(claude.received.at(-1)!.headers.authorization).toBe(`Bearer ${token}`);
    const open = { name: "open", runtime: "claude-code", model };
    const refused = await mia.call("POST", "/agents", open);
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringMatching(/is of a subscription for you alone, which only your private agents may use/),
    ]);
    expect((await max.call("POST", "/agents", { ...open, private: true })).body.code).toBe("model_not_available");
    const shown = await mia.call("PATCH", "/agents/hers", { private: false });
    expect([shown.status, shown.body.code]).toEqual([400, "model_not_available"]);
  });

  test("hides one of the workspace of its name from that person's private agents only", async () => {
    const team = { name: "claude", kind: "claude", apiKey: shared };
    expect((await max.call("POST", "/providers", team)).status).toBe(403);
    expect((await owner.call("POST", "/providers", team)).status).toBe(201);
    await max.createAgent("his", { private: true, runtime: "claude-code", model });
    await mia.createAgent("open", { runtime: "claude-code", model });
    for (const [client, name, used] of [
      [max, "his", shared],
      [mia, "open", shared],
      [mia, "hers", token],
    ] as const) {
      await client.ask(name, ask);
      expect(claude.received.at(-1)!.headers.authorization, name).toBe(`Bearer ${used}`);
    }
    expect((await owner.call("DELETE", "/providers/claude")).status).toBe(204);
    expect(await namesOf(mia)).toEqual(["claude"]);
  });

  test("is reported to that person alone, and to no webhook", async () => {
    const readers = await Promise.all(
      [mia, owner].map(async (client) => {
        const response = await client.fetch("GET", "/events");
        return response.body!.pipeThrough(new TextDecoderStream()).getReader();
      }),
    );
    const { body } = await mia.call("POST", "/providers", { name: "chatgpt", kind: "chatgpt", scope: "person" });
    vendor.codes.delete(body.login.userCode);
    await mia.call("POST", "/agents", { name: "end", private: false });
    await owner.call("POST", "/agents", { name: "last" });
    const seen = await Promise.all(
      readers.map(async (reader, index) => {
        let text = "";
        const end = index === 0 ? "login_failed" : '"last"';
        while (!text.includes(end)) text += (await reader.read()).value ?? "";
        await reader.cancel();
        return text;
      }),
    );
    expect(seen[0]).toContain('"provider":"chatgpt"');
    expect(seen[1]).not.toContain("provider.");
    await mia.call("DELETE", `/providers/chatgpt${own}`);
  });

  test("is a subscription: other kinds are the workspace's", async () => {
    const key = { name: "acme", kind: "openai-compatible", baseUrl: "https://example.com/v1", scope: "person" };
    const { status, body } = await mia.call("POST", "/providers", key);
    expect([status, body.message]).toEqual([400, expect.stringContaining("only subscriptions (claude, chatgpt)")]);
  });

  test("goes with the membership", async () => {
    const database = await databaseOf(people.service);
    const count = async () => (await database.selectFrom("providers").select("id").execute()).length;
    expect(await count()).toBe(1);
    const { body } = await owner.call("GET", `/workspaces/${workspace}/members`);
    const { id } = body.data.find(({ name }: { name: string }) => name === "mia");
    expect((await owner.call("DELETE", `/workspaces/${workspace}/members/${id}`)).status).toBe(204);
    expect(await count()).toBe(0);
    await database.destroy();
  });
});
