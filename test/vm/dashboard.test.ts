import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { VmService } from "../support/vm-service.ts";

// From the printed link to the first answer of a real agent in a real machine, by the browser alone.

let dashboard: Dashboard<VmService>;
beforeAll(async () => {
  dashboard = await Dashboard.of(await VmService.start());
});
afterAll(() => dashboard[Symbol.asyncDispose]());

test("a new user has an answer, sees what it cost, looks at a file and into the machine, and deletes the agent", async () => {
  const { context, page } = await dashboard.signedIn();
  // Everything is slow in an emulated machine.
  context.setDefaultTimeout(240_000);
  await page.getByRole("link", { name: "Create your first agent" }).click();
  await page.getByLabel("Name").fill("ada");
  await page.getByRole("radio", { name: /claude-code/ }).check();
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByLabel("Message to ada").fill("run: echo made by $(id -un) | tee made.txt");
  await page.keyboard.press("Enter");
  const turn = page.getByRole("article", { name: /^Turn: run: echo/ });
  await turn.getByRole("button", { name: "Copy the answer" }).waitFor();
  expect(await turn.locator(".prose").last().textContent()).toContain("made by agent");
  await turn.getByText(/credits$/).waitFor();

  const views = page.getByRole("navigation", { name: "Views of ada" });
  await views.getByRole("link", { name: "Files" }).click();
  await page.getByText("made.txt").first().click();
  await page.getByRole("dialog").getByText("made by agent").waitFor();
  await page.keyboard.press("Escape");
  await views.getByRole("link", { name: "Terminal" }).click();
  await page.getByRole("textbox", { name: "Terminal input" }).focus();
  await page.keyboard.type("wc -w made.txt; echo $((6*7))-is-it\n");
  await page.getByText("42-is-it").first().waitFor();

  await views.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByLabel("Type ada to go on").fill("ada");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No agents yet").waitFor();
  expect((await dashboard.service.client.call("GET", "/agents")).body.data).toEqual([]);
});
