import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

// Turns that end with JSON, in the conversation.

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await Dashboard.start();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

test("an output is shown as formatted JSON, as it comes and after a reload, and a failure with its reason", async () => {
  const { client } = dashboard.service;
  const { page } = await dashboard.signedIn();
  await client.createAgent("ada");
  await page.goto(`${dashboard.url}/-/agents/ada`);
  await page.getByLabel("Message to ada").waitFor();
  const schema = { type: "object", properties: { name: { type: "string" } } };
  const chat = (message: string) => client.fetch("POST", "/agents/ada/chat", { message, output: { schema } });
  await (await chat('give {"name":"Ada"}')).text();
  const output = page.getByRole("region", { name: "Output" });
  const shown = '{\n  "name": "Ada"\n}';
  await expect.poll(() => output.locator("pre").textContent()).toBe(shown);
  await page.reload();
  await expect.poll(() => output.locator("pre").textContent()).toBe(shown);
  await (await chat('give {"name":1} | {"name":2}')).text();
  await page.getByText("The agent's output does not match the schema: /name must be string.").waitFor();
  expect(await output.count()).toBe(1);
});
