import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

// Files that are uploaded to an agent's machine.

let dashboard: Dashboard;
let page: Page;
/** The agent's home folder, on this machine. */
let home: string;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  await dashboard.service.client.createAgent("ada");
  home = await dashboard.service.home();
  ({ page } = await dashboard.signedIn());
});
afterAll(() => dashboard[Symbol.asyncDispose]());
beforeEach(() => goto());

const goto = async (search = "") => {
  await page.goto("about:blank");
  await page.goto(`${dashboard.url}/-/agents/ada/files${search}`);
  await page.getByRole("region", { name: "Folder", exact: true }).waitFor();
};
const file = (name: string, content: string | Buffer) => ({
  name,
  mimeType: "application/octet-stream",
  buffer: Buffer.from(content),
});
const choose = (...files: ReturnType<typeof file>[]) => page.getByLabel("Files to upload").setInputFiles(files);
const panel = () => page.getByRole("region", { name: "Uploads" });
const row = (name: string) => panel().getByRole("listitem", { name, exact: true });
const onDisk = (name: string) => readFile(join(home, name), "utf8");
const isOnDisk = (name: string) =>
  access(join(home, name)).then(
    () => true,
    () => false,
  );
const listed = (name: string) =>
  page.getByRole("region", { name: "Files", exact: true }).getByRole("link", { name, exact: true });

/** Drops files on what a selector finds. Returns whether the browser was kept from opening them. */
async function drop(selector: string, files: Record<string, string>): Promise<boolean> {
  const code = `(() => {
    const transfer = new DataTransfer();
    for (const [name, text] of Object.entries(${JSON.stringify(files)})) transfer.items.add(new File([text], name));
    const target = document.querySelector(${JSON.stringify(selector)});
    const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
    target.dispatchEvent(new DragEvent("dragover", options));
    return !target.dispatchEvent(new DragEvent("drop", options));
  })()`;
  return (await page.evaluate(code)) as boolean;
}

test("an existing name asks: skip, keep both or replace, for all, too", async () => {
  for (const name of ["a.txt", "b.txt", "c.txt"]) await writeFile(join(home, name), "old");
  await choose(file("a.txt", "new a"), file("free.txt", "free"));
  await row("a.txt").getByText("A file named a.txt already exists.").waitFor();
  await row("free.txt").getByText("Uploaded").waitFor();
  expect(await onDisk("a.txt")).toBe("old");
  await row("a.txt").getByRole("button", { name: "Skip" }).click();
  await row("a.txt").getByText("Skipped").waitFor();
  await choose(file("a.txt", "new a"));
  await panel().getByRole("button", { name: "Keep both" }).click();
  await row("a (2).txt").getByText("Uploaded").waitFor();
  expect([await onDisk("a.txt"), await onDisk("a (2).txt")]).toEqual(["old", "new a"]);
  await listed("a (2).txt").waitFor();
  await choose(file("a.txt", "newer"), file("b.txt", "newer"), file("c.txt", "newer"));
  await row("c.txt").getByRole("button", { name: "Replace" }).waitFor();
  await panel().getByRole("checkbox", { name: "Same for all 3" }).check();
  await row("b.txt").getByRole("button", { name: "Replace" }).click();
  for (const name of ["a.txt", "b.txt", "c.txt"]) await expect.poll(() => onDisk(name)).toBe("newer");
  await panel().getByRole("button", { name: "Close uploads" }).click();
  await panel().waitFor({ state: "detached" });
});

test("a file that appears during the upload is not overwritten", async () => {
  await page.route("**/agents/ada/files/raced.txt", async (route) => {
    if (route.request().method() === "PUT") await writeFile(join(home, "raced.txt"), "of the agent");
    await route.continue();
  });
  await choose(file("raced.txt", "mine"));
  await row("raced.txt").getByText("already exists").waitFor();
  expect(await onDisk("raced.txt")).toBe("of the agent");
  await page.unroute("**/agents/ada/files/raced.txt");
});

test("a file cannot replace a folder, and the reason is shown", async () => {
  await mkdir(join(home, "folder"));
  await choose(file("folder", "text"));
  await row("folder").getByRole("button", { name: "Replace" }).click();
  await row("folder").getByText("This is a folder").waitFor();
});

test("shows progress, continues in other views, and is cancelled without a trace", async () => {
  const client = await page.context().newCDPSession(page);
  await client.send("Network.enable");
  const line = (bytesPerSecond: number) =>
    client.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: bytesPerSecond,
    });
  await line(300_000);
  await choose(file("large.bin", Buffer.alloc(3_000_000)));
  const progress = row("large.bin").getByRole("progressbar");
  await expect.poll(async () => Number(await progress.getAttribute("value"))).toBeGreaterThan(100_000);
  await row("large.bin")
    .getByText(/^\d+ %$/)
    .waitFor();
  await page.getByRole("link", { name: "Turns", exact: true }).click();
  await progress.waitFor();
  await panel().getByRole("button", { name: "Cancel large.bin" }).click();
  await row("large.bin").getByText("Cancelled").waitFor();
  expect(await isOnDisk("large.bin")).toBe(false);
  await line(-1);
  await panel().getByRole("button", { name: "Retry large.bin" }).click();
  await row("large.bin").getByText("Uploaded").waitFor();
  expect((await onDisk("large.bin")).length).toBe(3_000_000);
  await client.detach();
});

test("a lost connection is shown, and the upload is tried again", async () => {
  await page.route("**/agents/ada/files/lost.txt", (route) =>
    route.request().method() === "PUT" ? route.abort("connectionreset") : route.continue(),
  );
  await choose(file("lost.txt", "text"));
  await row("lost.txt").getByText("The connection to the server was lost.").waitFor();
  await panel().getByText("1 failed").waitFor();
  await page.unroute("**/agents/ada/files/lost.txt");
  await panel().getByRole("button", { name: "Retry lost.txt" }).click();
  await row("lost.txt").getByText("Uploaded").waitFor();
  expect(await onDisk("lost.txt")).toBe("text");
});

test("files are dropped anywhere on the tab, over an editor, too, and refused elsewhere", async () => {
  await mkdir(join(home, "docs"));
  await writeFile(join(home, "docs/open.txt"), "open");
  await goto("?path=docs");
  expect(await drop("nav[aria-label='Folder tree']", { "dropped.txt": "by the tree" })).toBe(true);
  await expect.poll(() => onDisk("docs/dropped.txt").catch(() => null)).toBe("by the tree");
  await listed("open.txt").click();
  await page.getByRole("textbox", { name: "Content of open.txt" }).waitFor();
  expect(await drop(".cm-content", { "over.txt": "over the editor" })).toBe(true);
  await expect.poll(() => onDisk("docs/over.txt").catch(() => null)).toBe("over the editor");
  expect(await onDisk("docs/open.txt")).toBe("open");
  expect(await page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
  await page.getByRole("link", { name: "Turns", exact: true }).click();
  expect(await drop("main", { "stray.txt": "nowhere" })).toBe(true);
  expect(await drop("aside", { "stray.txt": "nowhere" })).toBe(true);
  expect(new URL(page.url()).pathname).toBe("/-/agents/ada/turns");
});

test("hostile names are text in the panel", async () => {
  const name = "<img src=x onerror='window.hacked = 1'>.txt";
  await choose(file(name, "text"));
  await row(name).getByText("Uploaded").waitFor();
  await listed(name).waitFor();
  expect(await page.evaluate("window.hacked")).toBeUndefined();
});

test("closing the page during an upload asks", async () => {
  await writeFile(join(home, "asked.txt"), "old");
  await choose(file("asked.txt", "new"));
  await row("asked.txt").getByText("already exists").waitFor();
  const asked = page.waitForEvent("dialog");
  void page.close({ runBeforeUnload: true });
  await (await asked).dismiss();
  await row("asked.txt").getByRole("button", { name: "Skip" }).click();
});
