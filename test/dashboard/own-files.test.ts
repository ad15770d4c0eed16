import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Links and pictures of a reply that lead to files of the agent, and writing from right to left.

let service: ScriptedService;
let dashboard: Dashboard;
let page: Page;

/** A picture of one pixel. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

beforeAll(async () => {
  service = await ScriptedService.start();
  dashboard = await Dashboard.of(service);
  ({ page } = await dashboard.signedIn());
  await service.client.createAgent("ada");
  await put("out/plot.png", pixel);
  await put("out/not.png", Buffer.from("text"));
  await put("out/notes.md", Buffer.from("# Notes\n\n![The plot](plot.png)\n"));
});
afterAll(() => dashboard[Symbol.asyncDispose]());

async function put(path: string, bytes: Buffer): Promise<void> {
  const { url, key } = service.client;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" };
  const { status } = await fetch(`${url}/agents/ada/files/${path}`, {
    method: "PUT",
    headers,
    body: new Uint8Array(bytes),
  });
  expect(status).toBeLessThan(300);
}

/** The article of a turn whose reply is the message. */
async function repliedTo(message: string) {
  await service.client.ask("ada", message);
  await page.goto(`${dashboard.url}/-/agents/ada`);
  return page.getByRole("article").last();
}

test("a picture of the agent's is shown in a reply, and others stay addresses", async () => {
  const turn = await repliedTo(
    "![The plot](out/plot.png) ![Lost](out/lost.png) ![Odd](out/not.png) ![Far](https://example.com/a.png) ![Up](../../etc/a.png)",
  );
  const plot = turn.getByRole("img", { name: "The plot" });
  await plot.waitFor();
  const width = () => page.evaluate(`document.querySelector("img[alt='The plot']").naturalWidth`);
  await expect.poll(width).toBe(1);
  await turn.getByText(/Lost.*: .*(not found|no file|does not exist|no such)/i).waitFor();
  await turn.getByText("[Far: https://example.com/a.png]").waitFor();
  await turn.getByText("This file is not a picture.").waitFor();
  expect(await turn.getByRole("img").count()).toBe(1);
});

test("a link to a file of the agent's opens it, with a line's number, too", async () => {
  const turn = await repliedTo("See [the notes](out/notes.md:3), [the web](https://example.com/) and [all](/etc).");
  expect(await turn.getByRole("link", { name: "the web" }).getAttribute("href")).toBe("https://example.com/");
  await turn.getByRole("link", { name: "the notes" }).click();
  await expect.poll(() => page.url()).toContain("file=out%2Fnotes.md");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("img", { name: "The plot" }).waitFor();
});

test("each paragraph has the direction of its own writing", async () => {
  const turn = await repliedTo("שלום עולם\n\nHello world");
  await turn.locator("p", { hasText: "Hello world" }).last().waitFor();
  const left = (text: string) =>
    page.evaluate(`(() => {
      const paragraph = [...document.querySelectorAll("article .prose p")].find((p) => p.textContent.includes("${text}"));
      const range = document.createRange();
      range.selectNodeContents(paragraph);
      return { text: range.getBoundingClientRect().left, whole: paragraph.getBoundingClientRect().left };
    })()`) as Promise<{ text: number; whole: number }>;
  const hebrew = await left("שלום");
  expect(hebrew.text).toBeGreaterThan(hebrew.whole + 50);
  const english = await left("Hello");
  expect(english.text).toBeLessThan(english.whole + 2);
});
