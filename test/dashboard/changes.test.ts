import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

// The files that turns changed, below their replies.

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  ({ page } = await dashboard.signedIn());
  await dashboard.service.client.createAgent("ada", { autoSnapshot: 2 });
  await page.goto(`${dashboard.url}/-/agents/ada`);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

async function send(message: string): Promise<Locator> {
  await page.getByLabel("Message to ada").fill(message);
  await page.keyboard.press("Enter");
  return page.getByRole("article", { name: `Turn: ${message}` });
}

test("files are listed below the reply, with their diffs, after a reload, too", async () => {
  const first = await send("write notes/日本.txt one");
  await first.getByText("1 file changed").click();
  await first.getByText("notes/日本.txt", { exact: true }).click();
  await first.getByText("+ one").waitFor();
  const second = await send("write notes/日本.txt two");
  await page.reload();
  await second.getByText("1 file changed").click();
  await second.getByText("notes/日本.txt", { exact: true }).click();
  await second.getByText("- one").waitFor();
  await second.getByText("+ two").waitFor();
  const none = await send("count 1");
  await none.getByRole("button", { name: "Copy the answer" }).waitFor();
  expect(await none.getByText("file changed").count()).toBe(0);
});

test("the agent is restored to before a message, or the reason is shown", async () => {
  const turn = page.getByRole("article", { name: "Turn: write notes/日本.txt two" });
  const dialog = page.getByRole("dialog");
  const restore = async (of: Locator) => {
    await of.hover();
    await of.getByRole("button", { name: "Restore to before this message" }).click();
    await dialog.getByRole("button", { name: "Restore" }).click();
  };
  await restore(page.getByRole("article", { name: "Turn: write notes/日本.txt one" }));
  await dialog
    .getByText("There is no snapshot from before the turn: the agent keeps those of its last 2 turns.")
    .waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await restore(turn);
  await turn.getByText("Undone by a rollback").waitFor();
  expect(await turn.getByRole("button", { name: "Restore to before this message" }).count()).toBe(0);
  const next = await send("write notes/日本.txt three");
  await next.getByText("1 file changed").click();
  await next.getByText("notes/日本.txt", { exact: true }).click();
  await next.getByText("- one").waitFor();
});
