import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { newKey } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let owner: TestClient;
beforeAll(async () => {
  service = await ScriptedService.start();
  owner = service.client;
});
afterAll(() => service[Symbol.asyncDispose]());

describe("external agent keys", () => {
  test("reset no conversation, by no header of another operation", async () => {
    await owner.createAgent("shared");
    const key = await newKey(owner, { name: "narrow", kind: "agent", agents: ["shared"] });
    const conversation = async () => (await owner.call("GET", "/agents/shared")).body.conversation;
    const message = [{ role: "user", content: "hello" }];
    const headers = { "x-berth-conversation": "new" };
    const asked = [
      ["/v1/chat/completions", { model: "shared", messages: message }],
      ["/v1/responses", { model: "shared", input: message }],
    ] as const;
    for (const [path, body] of asked) {
      expect((await key.call("POST", path, body, headers)).status, path).toBe(403);
      expect((await key.call("POST", path, body)).status, path).toBe(200);
    }
    expect(await conversation()).toBe(1);
    expect((await owner.call("POST", "/v1/responses", asked[1][1], headers)).status).toBe(200);
    expect(await conversation()).toBe(4); // Each request without the header has begun one, too.
    const { data } = (await owner.call("GET", "/audit?agent=shared")).body;
    expect(data.filter(({ operation }: { operation: string }) => operation.includes("conversation"))).toMatchObject([
      { operation: "POST /agents/{name}/conversation/reset", status: 200 },
    ]);
  });

  test("reset no conversation by the header of a WebSocket", async () => {
    await owner.createAgent("by-socket");
    const key = await newKey(owner, { name: "narrow", kind: "agent", agents: ["by-socket"] });
    const answered = async ({ key: credential }: TestClient) => {
      const headers = { authorization: `Bearer ${credential}`, "x-berth-conversation": "new" };
      const socket = new WebSocket(`${owner.url.replace("http", "ws")}/v1/responses`, { headers });
      await once(socket, "open");
      const frames: { type: string; status?: number }[] = [];
      socket.on("message", (data) => frames.push(JSON.parse(String(data))));
      const last = () => frames.at(-1);
      socket.send(JSON.stringify({ type: "response.create", model: "by-socket", input: "hello" }));
      await expect.poll(() => last()?.type).toMatch(/^(error|response\.completed)$/);
      socket.close();
      return last()!;
    };
    expect(await answered(key)).toMatchObject({ type: "error", status: 403 });
    const conversation = async () => (await owner.call("GET", "/agents/by-socket")).body.conversation;
    expect(await conversation()).toBe(1);
    expect(await answered(owner)).toMatchObject({ type: "response.completed" });
    expect(await conversation()).toBe(2);
  });

  test("see no settings of their agents", async () => {
    const settings = { instructions: "Private.", mcpServers: { a: { command: "true", env: { TOKEN: "plain" } } } };
    await owner.createAgent("settings", settings);
    const key = await newKey(owner, { name: "narrow", kind: "agent", agents: ["settings"] });
    const shown = [(await key.call("GET", "/agents/settings")).body, (await key.call("GET", "/agents")).body];
    expect(JSON.stringify(shown)).not.toMatch(/Private|plain/);
    expect(shown[0]).toMatchObject({ name: "settings", instructions: null, mcpServers: {} });
    expect((await owner.call("GET", "/agents/settings")).body).toMatchObject(settings);
  });
});
