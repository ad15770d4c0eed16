import { afterEach, expect, test } from "vitest";
import type { Answer, TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Agents that leave as archives and come back, with the machines' folders as their disks. Real machines are in
// test/vm/export.test.ts.

let service: ScriptedService;
let client: TestClient;

async function start(changes: Parameters<typeof ScriptedService.start>[0] = {}): Promise<void> {
  service = await ScriptedService.start(changes);
  client = service.client;
}
afterEach(() => service[Symbol.asyncDispose]());

async function exported(name = "ada", query = ""): Promise<Buffer> {
  const response = await client.fetch("GET", `/agents/${name}/export${query}`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-tar"]);
  return Buffer.from(await response.arrayBuffer());
}

async function imported(archive: Uint8Array<ArrayBuffer> | Buffer, query = "?name=eve&wait=ready"): Promise<Answer> {
  const response = await fetch(`${client.url}/imports${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${client.key}`, "content-type": "application/x-tar" },
    body: archive as Uint8Array<ArrayBuffer>,
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

test("an agent leaves with files, settings, history and conversation, and goes on under another name", async () => {
  await start();
  await client.createAgent("ada", { instructions: "Sei kurz. 要点だけ。", model: "demo/demo" });
  await client.call("PUT", "/agents/ada/network", { allow: ["example.com"], deny: ["*.example.org"] });
  await client.call("PUT", "/agents/ada/secrets/TOKEN", { value: "very-secret-value", hosts: ["api.example.com"] });
  await client.chat("ada", "Grüße aus Köln, 你好");
  await client.chat("ada", "tool");
  await client.fetch(
    "PUT",
    "/agents/ada/files/%E4%B8%8B%E6%9B%B8%E3%81%8D/%D1%84%D0%B0%D0%B9%D0%BB.txt?mode=755",
    "Inhalt",
  );
  const archive = await exported();
  expect(archive.includes("very-secret-value")).toBe(false);

  const { status, body } = await imported(archive);
  expect([status, body]).toMatchObject([
    201,
    {
      agent: {
        name: "eve",
        status: "ready",
        instructions: "Sei kurz. 要点だけ。",
        model: "demo/demo",
        importedFrom: { agent: "ada", exportedAt: expect.any(String) },
      },
      secrets: [{ name: "TOKEN", hosts: ["api.example.com"], headers: ["authorization"] }],
      agents: [],
      hadDisk: false,
    },
  ]);
  expect(await client.ask("eve", "recall")).toBe("Grüße aus Köln, 你好\ntool\nrecall\n");
  const file = await client.call("GET", "/agents/eve/files/%E4%B8%8B%E6%9B%B8%E3%81%8D/%D1%84%D0%B0%D0%B9%D0%BB.txt");
  expect(file.body).toBe("Inhalt");
  const stat = await client.call(
    "GET",
    "/agents/eve/files/%E4%B8%8B%E6%9B%B8%E3%81%8D/%D1%84%D0%B0%D0%B9%D0%BB.txt?stat=true",
  );
  expect(stat.body.mode).toBe("0755");
  const network = await client.call("GET", "/agents/eve/network");
  expect(network.body).toMatchObject({ allow: ["example.com"], deny: ["*.example.org"] });
  const turns = (await client.call("GET", "/agents/eve/turns")).body.data;
  expect(
    turns.map(({ message, status, usage }: never) => [message, status, (usage as { credits: null }).credits]),
  ).toEqual([
    ["recall", "completed", expect.anything()],
    ["tool", "completed", null],
    ["Grüße aus Köln, 你好", "completed", null],
  ]);
  const { events } = await client.events("eve", turns[1].id);
  expect(events.map(({ event }) => event.type)).toContain("response.tool_call.completed");
});
