import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The snippets of an agent's tab Connect, run as a person would run them.

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");

let service: ScriptedService;
let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  service = await ScriptedService.start();
  dashboard = await Dashboard.of(service);
  ({ page } = await dashboard.signedIn());
  await service.client.createAgent("ada");
  await page.goto(`${dashboard.url}/-/agents/ada`);
  await page.getByRole("link", { name: "Connect" }).click();
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByTestId("once").waitFor();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

async function snippetOf(client: string, where: string): Promise<string> {
  await page.getByRole("radio", { name: client, exact: true }).check({ force: true });
  return (await page.getByRole("region", { name: where, exact: true }).textContent())!;
}

/** The output of a module. */
const printed = async (text: string) =>
  (await run(process.execPath, ["--input-type=module", "-e", text], { cwd: repository })).stdout;

describe("with the created key", () => {
  test("the key can only talk to the agent", async () => {
    const [key] = (await service.client.call("GET", "/keys")).body.data;
    expect(key).toMatchObject({ name: "Connect ada", kind: "agent", agents: ["ada"] });
    expect(Date.parse(key.expiresAt)).toBeGreaterThan(Date.now());
  });

  test("curl gets a reply", async () => {
    const { stdout } = await run("bash", ["-c", await snippetOf("curl", "Shell")]);
    expect(stdout).toContain("response.completed");
  });

  test("the client and OpenAI's SDK get a reply", async () => {
    expect(await printed(await snippetOf("TypeScript", "@berth/client"))).toContain("What can you do?");
    expect(await printed(await snippetOf("OpenAI SDK", "JavaScript"))).toContain("What can you do?");
  });

  test("the addresses of protocols answer", async () => {
    const card = await snippetOf("A2A, AG-UI", "A2A: the agent card");
    const [name, value] = (await snippetOf("A2A, AG-UI", "Header of both")).split(": ") as [string, string];
    expect(await (await fetch(card, { headers: { [name]: value } })).json()).toMatchObject({ name: "ada" });
    const entry = JSON.parse(await snippetOf("MCP", "Other clients")).mcpServers.berth;
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const headers = {
      ...entry.headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    expect((await fetch(entry.url, { method: "POST", headers, body: JSON.stringify(body) })).status).toBe(200);
  });

  test("the page does not show the key after it was left", async () => {
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("region", { name: "Behaviour" }).waitFor();
    await page.getByRole("link", { name: "Connect" }).click();
    expect(await snippetOf("curl", "Shell")).toContain("Bearer YOUR_KEY");
    await page.goto(`${dashboard.url}/-/agents/ada/connect?client=ssh`);
    await page.getByText("berth ssh-config").waitFor();
    expect(await page.getByRole("button", { name: "Create a key" }).count()).toBe(0);
  });
});
