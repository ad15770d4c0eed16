import { join } from "node:path";
import { sql } from "kysely";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "../../src/core/database/database.ts";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { acceptOrphans } from "../../src/hosts/found-files.ts";
import { Dashboard } from "../support/dashboard.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The operator's view of the quarantine. It begins with the machine of `bea`, the machine of `cleo` and a snapshot of
// `ada`, which the database has forgotten.

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  const service = await ScriptedService.start();
  for (const name of ["ada", "bea", "cleo"]) await service.client.createAgent(name, { autoSnapshot: 0 });
  await service.client.ask("bea", "remember this");
  await service.client.call("POST", "/agents/ada/snapshots", {});
  await service.client.call("POST", "/admin/users", { name: "simon" });
  await service.restart(async () => {
    await forget(join(service.config.dataFolder, "postgres"), ["bea", "cleo"]);
    expect(await acceptOrphans(service.config, { accept: true })).toHaveLength(3);
  });
  dashboard = await Dashboard.of(service);
  ({ page } = await dashboard.signedIn());
  await page.goto(`${dashboard.url}/-/operator`);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Removes the rows of these agents and of all snapshots from the database of a stopped server. */
async function forget(folder: string, names: string[]): Promise<void> {
  const postgres = await startEmbeddedPostgres(folder);
  const database = openDatabase(postgres.config, () => {});
  await database.deleteFrom("agents").where("name", "in", names).execute();
  await database.deleteFrom("snapshots").execute();
  await sql`delete from removals`.execute(database);
  await database.destroy();
  await postgres.stop();
}

const row = (text: string) => page.getByLabel("Quarantine").getByRole("row").filter({ hasText: text });
const orphans = async () => (await dashboard.service.client.call("GET", "/admin/orphans")).body.data;

test("lists each machine with its agent, and each snapshot", async () => {
  await row("cleo").getByText("machine", { exact: true }).waitFor();
  await row("bea").getByText("machine", { exact: true }).waitFor();
  await row("unknown").getByText("snapshot", { exact: true }).waitFor();
});

test("makes an agent of a machine, and shows it", async () => {
  await row("bea").getByRole("button", { name: "Give back" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("ada");
  await dialog.getByRole("button", { name: "Give back" }).click();
  await dialog.getByRole("alert").getByText(/ada/).waitFor();
  await dialog.getByLabel("Name").fill("found");
  await dialog.getByRole("button", { name: "Give back" }).click();
  await page.getByRole("heading", { level: 1, name: "found" }).waitFor();
  // Private to the operator who is signed in: the operator's key is nobody.
  expect((await dashboard.service.client.call("GET", "/agents/found/turns")).body.code).toBe("agent_private");
  await page.goto(`${dashboard.url}/-/agents/found/settings`);
  await page.getByRole("button", { name: "Share with the workspace" }).click();
  await page.getByRole("button", { name: "Make private" }).waitFor();
  expect(await dashboard.service.client.ask("found", "recall")).toBe("remember this\nrecall\n");
});

test("gives a machine to another user", async () => {
  await page.goto(`${dashboard.url}/-/operator`);
  await row("cleo").getByRole("button", { name: "Give back" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Owner").selectOption("simon");
  await dialog.getByRole("button", { name: "Give back" }).click();
  await row("cleo").waitFor({ state: "detached" });
  const { status } = await dashboard.service.client.call("GET", "/agents/cleo");
  expect(status).toBe(404);
});

test("removes a snapshot once its kind was typed", async () => {
  await row("unknown").getByRole("button", { name: "Remove" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByRole("button", { name: "Remove" }).isDisabled()).toBe(true);
  await dialog.getByLabel(/^Type snapshot/).fill("snapshot");
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByText(/^Empty\./).waitFor();
  expect(await orphans()).toEqual([]);
});
