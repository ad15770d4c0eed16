import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { VmService } from "../support/vm-service.ts";
import { runtimesInMachines } from "../support/warm-seed.ts";

// From the printed link to the answer of a real agent of each runtime in a real machine, by the browser alone.

/** Under emulation. OpenClaw boots for a quarter of an hour where its template does not fit. */
const slowMs = 1_200_000;

let dashboard: Dashboard<VmService>;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.of(await VmService.start());
  ({ context, page } = await dashboard.signedIn());
  context.setDefaultTimeout(slowMs / 4);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

describe.each(runtimesInMachines)("%s", { timeout: slowMs }, (runtime) => {
  const name = `of-${runtime}`;
  const goTo = (view: string) =>
    page.getByRole("navigation", { name: "Views", exact: true }).getByRole("link", { name: view }).click();
  const views = () => page.getByRole("navigation", { name: `Views of ${name}` });

  test("an agent is created, answers from its machine, and shows its cost", async () => {
    await goTo("Agents");
    await page.getByRole("link", { name: "Create agent" }).first().click();
    await page.getByLabel("Name").fill(name);
    await page.getByRole("radio", { name: runtime }).check();
    await page.getByRole("button", { name: "Create agent" }).click();
    await page.getByLabel(`Message to ${name}`).fill("run: echo made by $(id -un) | tee made.txt");
    await page.keyboard.press("Enter");
    const turn = page.getByRole("article", { name: /^Turn: run: echo/ });
    await turn.getByRole("button", { name: "Copy the answer" }).waitFor();
    expect(await turn.locator(".prose").last().textContent()).toContain("made by agent");
    await turn.getByText(/credits$/).waitFor();
  });

  test("its file is shown, and a terminal is opened next to it", async () => {
    await views().getByRole("link", { name: "Files" }).click();
    await page.getByRole("region", { name: "Files", exact: true }).getByRole("link", { name: "made.txt" }).click();
    await page.getByRole("textbox", { name: "Content of made.txt" }).getByText("made by agent").waitFor();
    await views().getByRole("link", { name: "Terminal" }).click();
    await page.getByRole("textbox", { name: "Terminal input" }).focus();
    await page.keyboard.type("wc -w made.txt; echo $((6*7))-is-it\n");
    await page.getByText("42-is-it").first().waitFor();
  });

  test("a key is made that talks with it", async () => {
    await goTo("Keys");
    await page.getByRole("button", { name: "Create API key" }).click();
    await page.getByLabel("Name").fill(`for ${name}`);
    await page.getByLabel("Kind").selectOption({ label: "Only chats with some agents" });
    await page.getByRole("checkbox", { name }).check();
    await page.getByRole("button", { name: "Create key" }).click();
    const key = (await page.getByTestId("once").textContent())!;
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("cell", { name: `for ${name}` }).waitFor();
    const headers = { authorization: `Bearer ${key}` };
    expect((await fetch(`${dashboard.url}/agents/${name}`, { headers })).status).toBe(200);
  });

  test("what it cost is in the ledger", async () => {
    await goTo("Credits");
    await page
      .getByRole("region", { name: "Ledger" })
      .last()
      .getByRole("row")
      .filter({ hasText: name })
      .first()
      .waitFor();
  });

  test("it is deleted", async () => {
    await goTo("Agents");
    await page.getByRole("link", { name }).click();
    await views().getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByLabel(`Type ${name} to continue`).fill(name);
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No agents yet").waitFor();
    expect((await dashboard.service.client.call("GET", "/agents")).body.data).toEqual([]);
  });
});
