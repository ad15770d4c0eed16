import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

// The review of changes: diffs, reverts, comments on lines.

let dashboard: Dashboard;
let page: Page;

const lines = Array.from({ length: 30 }, (_, line) => `line ${line + 1}`);

beforeAll(async () => {
  dashboard = await Dashboard.start();
  const { client } = dashboard.service;
  for (const name of ["ada", "bob", "cid", "eve"]) await client.createAgent(name);
  ({ page } = await dashboard.signedIn({ viewport: { width: 1280, height: 900 } }));
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const write = async (agent: string, text: string) =>
  (await dashboard.service.client.chat(agent, `write ${text}`)).turnId;
const put = (agent: string, path: string, text: string) =>
  dashboard.service.client.call("PUT", `/agents/${agent}/files/${path}`, text);
const read = async (agent: string, path: string) =>
  (await dashboard.service.client.fetch("GET", `/agents/${agent}/files/${path}`)).text();
const open = (path: string) => page.goto(`${dashboard.url}/-/agents/${path}`);
const file = (name: string) => page.getByRole("region", { name, exact: true });
const lineNumber = (name: string, line: string) =>
  file(name).getByRole("button", { name: `Comment on ${line}`, exact: true });

test("an agent without changes says so", async () => {
  await open("ada/changes");
  await page.getByText("No changes yet").waitFor();
});

test("a turn's diff is opened from its reply, unified or side by side, with line numbers", async () => {
  await write("ada", `src/a.txt ${lines.join("\n")}`);
  await write("ada", `src/a.txt ${lines.with(2, "line three").with(25, "x").join("\n")}`);
  await open("ada");
  await page.getByRole("article").last().getByRole("link", { name: "Review" }).click();
  await page.getByText("1 file changed").waitFor();
  const diff = file("Changes of src/a.txt");
  await diff.getByText("@@ -1,6 +1,6 @@").waitFor();
  await diff.getByText("@@ -23,7 +23,7 @@").waitFor();
  await lineNumber("src/a.txt", "removed line 3").waitFor();
  await lineNumber("src/a.txt", "line 3").waitFor();
  expect(await diff.locator("mark").allTextContents()).toEqual(["3", "three"]);
  await page.getByRole("button", { name: "Side by side" }).click();
  expect(await diff.getByRole("row").filter({ hasText: "three" }).getByRole("cell").count()).toBe(4);
  await page.reload();
  await page.getByRole("button", { name: "Side by side", pressed: true }).waitFor();
  await page.setViewportSize({ width: 800, height: 900 });
  await expect.poll(() => page.getByRole("button", { name: "Side by side" }).count()).toBe(0);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole("button", { name: "Unified" }).click();
});

test("a file is reverted and made again, and a conflict says why", async () => {
  await open("ada/changes");
  await file("src/a.txt").getByRole("button", { name: "Revert file" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Revert file" }).click();
  await file("src/a.txt").getByText("Reverted", { exact: true }).waitFor();
  expect(await read("ada", "src/a.txt")).toBe(`${lines.join("\n")}\n`);
  await page.reload();
  await file("src/a.txt").getByRole("button", { name: "Undo revert" }).click();
  await dialog.getByRole("button", { name: "Make the change" }).click();
  await file("src/a.txt").getByRole("button", { name: "Revert file" }).waitFor();
  expect(await read("ada", "src/a.txt")).toContain("line three");
  await put("ada", "src/a.txt", "mine\n");
  await file("src/a.txt").getByRole("button", { name: "Revert file" }).click();
  await dialog.getByRole("button", { name: "Revert file" }).click();
  await dialog.getByText(/src\/a\.txt has other changes at the same lines.*Nothing was changed\./).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(await read("ada", "src/a.txt")).toBe("mine\n");
});

test("comments on lines survive a reload and become one message", async () => {
  await write("bob", "b.txt one\ntwo\nthree");
  await write("bob", "b.txt one\n2\nthree");
  await open("bob/changes");
  await lineNumber("b.txt", "removed line 2").click();
  await page.getByRole("textbox", { name: "Comment on removed line 2" }).fill("Keep the word.");
  await page.getByRole("button", { name: "Add comment" }).click();
  await lineNumber("b.txt", "line 3").click();
  await page.getByRole("textbox", { name: "Comment on line 3" }).fill("And this");
  await page.reload();
  const field = page.getByRole("textbox", { name: "Comment on line 3" });
  expect(await field.inputValue()).toBe("And this");
  await field.press("Control+Enter");
  await page.getByText("2 comments").waitFor();
  await lineNumber("b.txt", "line 1").click();
  await page.getByRole("textbox", { name: "Comment on line 1" }).press("Escape");
  expect(await page.getByRole("textbox", { name: /^Comment on/ }).count()).toBe(0);
  await page.getByRole("button", { name: "Send to bob" }).click();
  const sent = page.getByRole("article", { name: "Turn: Comments on changes" });
  await sent.getByRole("button", { name: "Copy the answer" }).waitFor();
  const [turn] = (await dashboard.service.client.call("GET", "/agents/bob/turns")).body.data;
  expect(turn.message).toBe(
    "Comments on changes in files:\n\nb.txt, line 2 before the change:\n> two\nKeep the word.\n\nb.txt, line 3:\n> three\nAnd this",
  );
  await open("bob/changes");
  await lineNumber("b.txt", "line 3").waitFor();
  expect(await page.getByText("2 comments").count()).toBe(0);
});

test("comments can be edited, removed and discarded", async () => {
  await open("bob/changes");
  await lineNumber("b.txt", "line 1").click();
  await page.getByRole("textbox", { name: "Comment on line 1" }).fill("First");
  await page.getByRole("button", { name: "Add comment" }).click();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Comment on line 1" }).fill("Second");
  await page.getByRole("button", { name: "Add comment" }).click();
  await page.getByText("Second", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await expect.poll(() => page.getByText("1 comment", { exact: true }).count()).toBe(0);
  await lineNumber("b.txt", "line 1").click();
  await page.getByRole("textbox", { name: "Comment on line 1" }).fill("Third");
  await page.getByRole("button", { name: "Discard all" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
  await expect.poll(() => page.getByText("Third").count()).toBe(0);
});

test("comments for an agent that works wait in its queue", async () => {
  await page.goto(`${dashboard.url}/-/agents/bob`);
  await page.getByLabel("Message to bob").fill("hang");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Interrupt" }).waitFor();
  await page.getByRole("link", { name: "Changes", exact: true }).click();
  await file("b.txt").getByRole("button", { name: "Revert file" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Revert file" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await lineNumber("b.txt", "line 1").click();
  await page.getByRole("textbox", { name: "Comment on line 1" }).fill("Later");
  await page.getByRole("button", { name: "Add comment" }).click();
  await page.getByRole("button", { name: "Send to bob" }).click();
  const queue = async () => (await dashboard.service.client.call("GET", "/agents/bob/queue")).body.data;
  await expect.poll(async () => (await queue()).length).toBe(1);
  expect((await queue())[0].message).toContain("> one\nLater");
  await page.getByRole("button", { name: "Interrupt" }).click();
  const { client } = dashboard.service;
  await expect.poll(async () => (await client.call("GET", "/agents/bob/queue")).body.held).not.toBeNull();
  await client.call("POST", "/agents/bob/queue", { action: "discard" });
});

test("keys move between files and changes, and open a comment", async () => {
  await dashboard.service.client.chat("cid", "writes a b");
  await write("cid", "a.txt one");
  await put("cid", "c.txt", `${lines.join("\n")}\n`);
  await write("cid", `c.txt ${lines.with(2, "y").with(25, "x").join("\n")}`);
  const [first] = (await dashboard.service.client.call("GET", "/agents/cid/turns?limit=2")).body.data.slice(1);
  await open(`cid/changes?since=${first.id}`);
  await page.getByText("2 files changed").waitFor();
  const focused = () =>
    page.evaluate("document.activeElement.textContent || document.activeElement.ariaLabel") as Promise<string>;
  await page.keyboard.press("j");
  expect(await focused()).toBe("a.txt");
  await page.keyboard.press("j");
  expect(await focused()).toBe("c.txt");
  await lineNumber("c.txt", "line 26").waitFor();
  await page.keyboard.press("n");
  expect(await focused()).toBe("3");
  await page.keyboard.press("n");
  expect(await focused()).toBe("26");
  await page.keyboard.press("p");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.type("jnkp");
  await page.getByRole("textbox", { name: "Comment on line 3" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await focused()).toBe("3");
  await page.keyboard.press("k");
  expect(await focused()).toBe("c.txt");
  await page.keyboard.press("k");
  expect(await focused()).toBe("a.txt");
  await page.getByLabel("Filter files").fill("C.T");
  await expect.poll(() => page.getByRole("region", { name: "a.txt", exact: true }).count()).toBe(0);
  await file("c.txt").waitFor();
});

test("all changes since a snapshot are chosen, without reverts; points that are gone say so", async () => {
  const { client } = dashboard.service;
  await client.call("POST", "/agents/bob/snapshots", { name: "milestone" });
  await write("bob", "b.txt 1\n2\nthree");
  await write("bob", "b.txt 1\n2\n3");
  await open("bob/changes");
  await page.getByLabel("Changes to review").selectOption({ label: "Since milestone" });
  await file("b.txt").getByText("@@ -1,3 +1,3 @@").waitFor();
  expect(await page.getByRole("button", { name: "Revert file" }).count()).toBe(0);
  await page.reload();
  await file("b.txt").getByText("@@ -1,3 +1,3 @@").waitFor();
  await page.getByLabel("Changes to review").selectOption("");
  await file("b.txt").getByRole("button", { name: "Revert file" }).waitFor();
  await open("bob/changes?since=nope");
  await page.getByText("These changes are not known").waitFor();
  await open("bob/changes?turn=nope");
  await page.getByText("These changes are not known").waitFor();
});

test("hostile names and contents are shown as they are, and very long ones in part", async () => {
  await put("eve", "bin", "\0\u0001");
  await write("eve", `<b>x</b>\u202etxt.exe <img src=x onerror=alert(1)>\u202e\u001b[31m\n${"y".repeat(200_000)}`);
  await open("eve/changes");
  await file("<b>x</b>⟨U+202E⟩txt.exe").getByText("<img src=x onerror=alert(1)>⟨U+202E⟩⟨U+001B⟩[31m").waitFor();
  await page.getByText("… 198,000 more characters").waitFor();
  await write("eve", `long.txt ${Array.from({ length: 900 }, (_, line) => line).join("\n")}`);
  await page.reload();
  await file("long.txt").getByRole("button", { name: "Show 601 more lines" }).click();
  await lineNumber("long.txt", "line 900").waitFor();
  await write("eve", "bin text");
  await page.reload();
  await file("bin").getByText("No diff: the file is not text").waitFor();
  expect(await file("bin").getByRole("button", { name: "Revert file" }).count()).toBe(0);
  const names = Array.from({ length: 250 }, (_, at) => `many/${String(at).padStart(3, "0")}`);
  await dashboard.service.client.chat("eve", `writes ${names.join(" ")}`);
  await page.reload();
  await page.getByText("250 files changed").waitFor();
  await page.getByRole("button", { name: "Show 100 more of 250 files" }).click();
  await page.getByRole("button", { name: "Show 50 more of 250 files" }).waitFor();
});

test("on a phone a tap on a line opens a comment, and nothing is wider than the screen", async () => {
  const phone = await dashboard.signedIn({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await phone.page.goto(`${dashboard.url}/-/agents/ada/changes`);
  const { page } = phone;
  await page.getByRole("row").filter({ hasText: "three" }).getByRole("cell").last().tap();
  await page.getByRole("textbox", { name: "Comment on line 3" }).fill("Why?");
  await page.getByRole("button", { name: "Add comment" }).tap();
  await page.getByText("1 comment", { exact: true }).waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  await phone.context.close();
});
