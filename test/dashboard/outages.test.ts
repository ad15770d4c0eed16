import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { Dashboard } from "../support/dashboard.ts";
import { KillableService } from "../support/killable-service.ts";
import { PoorNetwork } from "../support/poor-network.ts";
import { deltasOf } from "../support/scripted-runtime.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// A server that dies under the browser, and a line that is slow and loses things.

const waitMs = 60_000;

async function openNewAgent(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation", { name: "Views", exact: true }).getByRole("link", { name: "Agents" }).click();
  await page.getByRole("link", { name: "Create agent" }).first().click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByLabel(`Message to ${name}`).waitFor({ timeout: waitMs });
}

async function send(page: Page, name: string, message: string): Promise<Locator> {
  await page.getByLabel(`Message to ${name}`).fill(message);
  await page.keyboard.press("Enter");
  return page.getByRole("article", { name: `Turn: ${message}` });
}

async function answerOf(turn: Locator): Promise<string> {
  await turn.getByRole("button", { name: "Copy the answer" }).waitFor({ timeout: waitMs });
  return (await turn.locator(".prose").textContent())!.trim();
}

test("a server that is killed in mid-stream costs nothing: the answer is whole and once, what was typed is sent", async () => {
  const service = await KillableService.start();
  const server = { url: await service.server.url(), firstSignIn: (await service.server.line(/^Sign in: (\S+)$/))[1]! };
  await using dashboard = await Dashboard.of({ server, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() });
  const { page } = await dashboard.signedIn();
  await openNewAgent(page, "ada");
  const turn = await send(page, "ada", "count 200 40");
  await turn.getByText("1 2 3 4 5").waitFor();
  await service.killServer();
  await page.getByText("Can't reach the server").waitFor({ timeout: waitMs });
  await send(page, "ada", "and then");
  await page.getByRole("list", { name: "Queued messages" }).getByText("and then").waitFor();
  await service.startServer();
  await expect.poll(() => answerOf(turn)).toBe(deltasOf("count 200").join("").trim());
  await expect.poll(() => answerOf(page.getByRole("article", { name: "Turn: and then" }))).toBe("and then");
  expect(await page.getByRole("article").count()).toBe(2);
  await page.getByText("Can't reach the server").waitFor({ state: "detached", timeout: waitMs });
});

test("over a slow line that loses things, everything works, what is typed shows at once, and a cut costs nothing", {
  timeout: 180_000,
}, async () => {
  const port = await freePort();
  using network = await PoorNetwork.start(port);
  await using dashboard = await Dashboard.of(await ScriptedService.start({ port, publicUrl: network.url }));
  const { page } = await dashboard.signedIn({ baseURL: network.url });
  expect(new URL(page.url()).origin).toBe(network.url);
  await openNewAgent(page, "ada");
  // Shown before the service can know of it, and for as long alone, so each frame is looked at, from before it is sent.
  const sending = page.waitForFunction(() => {
    const { document } = globalThis as unknown as { document: { body: { innerText: string } } };
    // biome-ignore lint/performance/useDomNodeTextContent: what is not drawn is not shown
    return document.body.innerText.includes("sending…");
  });
  const [turn] = await Promise.all([send(page, "ada", "count 150 30"), sending]);
  await turn.getByText("1 2 3 4 5").waitFor();
  network.cut();
  await expect.poll(() => answerOf(turn)).toBe(deltasOf("count 150").join("").trim());
  expect(await page.getByRole("article").count()).toBe(1);
  await page.getByRole("navigation", { name: "Views of ada" }).getByRole("link", { name: "Terminal" }).click();
  await page.getByRole("textbox", { name: "Terminal input" }).focus();
  await page.keyboard.type("echo $((6*7))-is-it\n");
  await page.getByText("42-is-it").first().waitFor();
  await page.reload();
  await page.getByText("42-is-it").first().waitFor();
  await page.getByText("Can't reach the server").waitFor({ state: "detached" });
});
