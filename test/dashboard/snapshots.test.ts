import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { Dashboard } from "../support/dashboard.ts";

// Moments of an agent in the browser: taken, gone back to, and made an agent of.

let dashboard: Dashboard;
let client: TestClient;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  client = dashboard.service.client;
  await client.createAgent("ada", { autoSnapshot: 0 });
  await client.chat("ada", "one");
  ({ page } = await dashboard.signedIn());
  await page.goto(`${dashboard.url}/-/agents/ada/snapshots`);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const row = (name: string | RegExp) => page.getByRole("row").filter({ hasText: name });

test("a snapshot is taken, also a second of the same name is refused in place", async () => {
  await page.getByText("No snapshots yet").waitFor();
  for (const expected of ["taken", "refused"]) {
    await page.getByRole("button", { name: "Take a snapshot" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("vor dem Umbau 🚧");
    await page.getByRole("dialog").getByRole("button", { name: "Take snapshot" }).click();
    if (expected === "taken") await row("vor dem Umbau 🚧").waitFor();
    else await page.getByRole("dialog").getByText("has a snapshot vor dem Umbau 🚧 already").waitFor();
  }
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
});

test("the agent makes snapshots before each turn if that is set", async () => {
  await page.getByLabel("Before each turn").selectOption("Keep the last 3");
  await expect.poll(async () => (await client.call("GET", "/agents/ada")).body.autoSnapshot).toBe(3);
  await client.chat("ada", "two");
  await page.reload();
  await row(/^Before a turn/).waitFor();
});

test("the agent is rolled back, and the turns since are marked", async () => {
  await row("vor dem Umbau 🚧").getByRole("button", { name: "Roll back" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
  await row(/^Before the rollback to vor dem Umbau 🚧/).waitFor();
  const views = page.getByRole("navigation", { name: "Views of ada" });
  await views.getByRole("link", { name: "Turns" }).click();
  await row("two").getByText("undone").waitFor();
  await views.getByRole("link", { name: "Conversation" }).click();
  await page.getByRole("article", { name: "Turn: two" }).getByText("Undone by a rollback").waitFor();
  await page.goBack();
  await page.goBack();
});

test("another agent is made of it, and a snapshot is removed", async () => {
  await row(/^vor dem Umbau 🚧/)
    .getByRole("button", { name: "Remove" })
    .waitFor();
  await row(/^Before a turn/)
    .getByRole("button", { name: "Remove" })
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row(/^Before a turn/).waitFor({ state: "detached" });
  await row(/^vor dem Umbau 🚧/)
    .getByRole("button", { name: "Fork" })
    .click();
  await page.getByRole("dialog").getByLabel("Name of the new agent").fill("eve");
  await page.getByRole("dialog").getByRole("button", { name: "Create fork" }).click();
  await page.getByRole("heading", { level: 1, name: "eve" }).waitFor();
  await page.getByText("Forked from ada").waitFor();
  expect(await page.getByRole("main").getByRole("link", { name: "ada", exact: true }).getAttribute("href")).toContain(
    "/agents/ada",
  );
  expect(await client.ask("eve", "recall")).toBe("one\nrecall\n");
});

test("a newer image is reported, and the agent can be upgraded to it", async () => {
  await page.goto(`${dashboard.url}/-/agents`);
  await row("eve").getByText("claude-code").waitFor();
  expect(await page.getByText("Update available").count()).toBe(0);
  dashboard.service.driver.imageId = "newer";
  await page.reload();
  await row("ada").getByText("Update available").waitFor();
  await page.getByLabel("Select eve").check();
  await page.getByRole("button", { name: "Upgrade" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Upgrade" }).click();
  await row("eve").getByText("Update available").waitFor({ state: "detached" });
  await page.goto(`${dashboard.url}/-/agents/ada/settings`);
  await page.getByRole("button", { name: "Upgrade" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Upgrade" }).click();
  await page.getByText("Image newer.").waitFor();
  await page.getByRole("button", { name: "Upgrade" }).waitFor({ state: "detached" });
  expect(await client.ask("ada", "recall")).toBe("one\nrecall\n");
  await page.goto(`${dashboard.url}/-/agents/ada/snapshots`);
  await row(/^Before the upgrade/).waitFor();
});

test("another runtime continues with the agent", async () => {
  await page.goto(`${dashboard.url}/-/agents/eve/settings`);
  await page.getByText("claude-code runs it.").waitFor();
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByRole("dialog").getByLabel("Runtime").selectOption({ index: 1 });
  await page.getByRole("dialog").getByRole("button", { name: "Switch runtime" }).click();
  await page.getByText("openclaw runs it.").waitFor();
  await expect.poll(async () => (await client.call("GET", "/agents/eve")).body.status).toBe("ready");
});
