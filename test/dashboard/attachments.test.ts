import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { png } from "../support/pictures.ts";

// Images and files in the message field and in the conversation.

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  ({ page } = await dashboard.signedIn());
});
afterAll(() => dashboard[Symbol.asyncDispose]());

async function open(name: string, on = page): Promise<void> {
  await dashboard.service.client.createAgent(name);
  await on.goto(`${dashboard.url}/-/agents/${name}`);
  await on.getByLabel(`Message to ${name}`).waitFor();
}

async function send(name: string, message: string): Promise<Locator> {
  await page.getByLabel(`Message to ${name}`).fill(message);
  await page.keyboard.press("Enter");
  return page.getByRole("article", { name: `Turn: ${message}` });
}

const image = { name: "shot.png", mimeType: "image/png", buffer: png(40, 30) };
const notes = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("notes") };
const message = () => page.getByRole("group", { name: "New message" });
const choose = (...files: (typeof image)[]) => page.getByLabel("Attach files: choose").setInputFiles(files);

/** Whether the browser has decoded the picture. */
const isDrawn = (picture: Locator) =>
  picture.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth);

test("chosen files are shown before they are sent, and with the turn, after a reload, too", async () => {
  await open("ada");
  await choose(image, notes);
  await expect.poll(() => isDrawn(message().getByAltText("shot.png"))).toBe(40);
  await message().getByText("notes.txt").waitFor();
  const turn = await send("ada", "see this");
  await turn.getByText(`[["image/png",${png(40, 30).length}]]`).waitFor();
  await expect.poll(() => isDrawn(turn.getByAltText("shot.png"))).toBe(40);
  expect(await message().getByRole("listitem").count()).toBe(0);
  await page.reload();
  await expect.poll(() => isDrawn(turn.getByAltText("shot.png"))).toBe(40);
  const downloading = page.waitForEvent("download");
  await turn.getByRole("button", { name: /notes\.txt/ }).click();
  const download = await downloading;
  expect([download.suggestedFilename(), await readFile(await download.path(), "utf8")]).toEqual(["notes.txt", "notes"]);
});

test("files are removed from a message; one alone is sent without text", async () => {
  await open("bea");
  await choose(image, notes);
  await message().getByRole("button", { name: "Remove: shot.png" }).click();
  await message().getByAltText("shot.png").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Send" }).click();
  const turn = page.getByRole("article", { name: "Turn: notes.txt" });
  await turn.getByRole("button", { name: "Copy the answer" }).waitFor();
  const { data } = (await dashboard.service.client.call("GET", "/agents/bea/turns")).body;
  expect(data).toMatchObject([{ message: "", attachments: [{ name: "notes.txt" }] }]);
});

/** Brings a picture to the message field, as a script of the page. */
const bringing = (type: string, bytes: Buffer) => `{
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(${JSON.stringify([...bytes])})], "pasted.png", { type: "image/png" }));
  const init = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data };
  document.querySelector("textarea").dispatchEvent("${type}" === "paste" ? new ClipboardEvent("paste", init) : new DragEvent("drop", init));
}`;

test.each(["paste", "drop"])("files come by %s", async (type) => {
  const name = `by-${type}`;
  await open(name);
  await page.evaluate(bringing(type, image.buffer));
  await expect.poll(() => isDrawn(message().getByAltText("pasted.png"))).toBe(40);
  const turn = await send(name, "see this");
  await turn.getByText(`[["image/png",${image.buffer.length}]]`).waitFor();
});

test("an edit of a queued message keeps its files", async () => {
  await open("carl");
  await (await send("carl", "hang")).getByRole("status").waitFor();
  await choose(image);
  await message().getByAltText("shot.png").waitFor();
  await page.getByLabel("Message to carl").fill("first");
  await page.getByRole("button", { name: "Add to the queue" }).click();
  const queue = page.getByRole("list", { name: "Queued messages" });
  await queue.getByRole("button", { name: "Edit: first (shot.png)" }).click();
  await message().getByAltText("shot.png").waitFor();
  await page.getByLabel("Message to carl").fill("second");
  await page.getByRole("button", { name: "Add to the queue" }).click();
  await queue.getByText("second (shot.png)").waitFor();
});

test("an empty file is refused with the reason, and the others are attached", async () => {
  await open("dora");
  await choose({ ...notes, name: "empty.txt", buffer: Buffer.alloc(0) }, notes);
  await page.getByText("empty.txt is empty.").waitFor();
  await message().getByText("notes.txt").waitFor();
});

test("an expired image is shown by its name", async () => {
  await open("emil");
  await choose(image);
  await message().getByAltText("shot.png").waitFor();
  const turn = await send("emil", "see this");
  await turn.getByRole("button", { name: "Copy the answer" }).waitFor();
  const { client } = dashboard.service;
  const [{ id }] = (await client.call("GET", "/agents/emil/uploads")).body.data;
  await client.call("DELETE", `/agents/emil/uploads/${id}`);
  await page.reload();
  await turn.getByText("expired").waitFor();
});

test("a phone takes a picture, and the page is no wider than the screen", async () => {
  const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };
  const { context, page: small } = await dashboard.signedIn(phone);
  await open("fritz", small);
  await small.getByRole("button", { name: "Take a picture" }).waitFor();
  await small.getByLabel("Take a picture: choose").setInputFiles([image]);
  const group = small.getByRole("group", { name: "New message" });
  await group.getByAltText("shot.png").waitFor();
  await small.getByLabel("Attach files: choose").setInputFiles([{ ...notes, name: `${"long ".repeat(40)}.txt` }]);
  await group.getByText(/^long/).waitFor();
  expect(await small.evaluate("document.documentElement.scrollWidth")).toBe(390);
  await context.close();
});
