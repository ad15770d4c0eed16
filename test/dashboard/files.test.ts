import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { png } from "../support/pictures.ts";

// The folders of an agent, and its files in the editor.

let dashboard: Dashboard;
let page: Page;
/** The agent's home folder, on this machine. */
let home: string;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  await dashboard.service.client.createAgent("ada");
  home = await dashboard.service.home();
  ({ page } = await dashboard.signedIn());
  await page.addInitScript(`
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => {
      window.violations.push(event.effectiveDirective + " " + event.blockedURI);
    });
  `);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Closes what an earlier test has left open. */
beforeEach(() => page.goto("about:blank").then(() => {}));

const goto = (search = "") => page.goto(`${dashboard.url}/-/agents/ada/files${search}`);
const content = (name: string) => page.getByRole("textbox", { name: `Content of ${name}` });
const save = () => page.getByRole("button", { name: "Save", exact: true });
const table = () => page.getByRole("region", { name: "Files", exact: true });
const names = () => table().getByRole("row").locator("td:first-child").allTextContents();
const onDisk = (name: string) => readFile(join(home, name), "utf8");
const put = (name: string, text: string | Uint8Array) => writeFile(join(home, name), text);

async function openFile(name: string, text: string | Uint8Array): Promise<void> {
  await put(name, text);
  await goto(`?file=${encodeURIComponent(name)}`);
}

/** Types at the end of the open file. */
async function type(name: string, text: string): Promise<void> {
  await content(name).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(text);
}

describe("the editor", () => {
  test("opens a file at an address of its own, saves it, and breaks no policy", async () => {
    await put("first.ts", "const a = 1;\n");
    await goto();
    await table().getByRole("link", { name: "first.ts" }).click();
    await content("first.ts").getByText("const").waitFor();
    expect(new URL(page.url()).search).toBe("?file=first.ts");
    // Highlighted: the language came.
    await expect.poll(() => content("first.ts").locator("span").count()).toBeGreaterThan(1);
    expect(await save().isDisabled()).toBe(true);
    await type("first.ts", "// more");
    await save().click();
    await page.getByText("Saved").waitFor();
    expect(await onDisk("first.ts")).toBe("const a = 1;\n// more");
    await type("first.ts", "!");
    await page.keyboard.press("Control+s");
    await expect.poll(() => onDisk("first.ts")).toBe("const a = 1;\n// more!");
    await expect.poll(() => save().isDisabled()).toBe(true);
    await page.goBack();
    await table().waitFor();
    expect(await page.evaluate("window.violations")).toEqual([]);
  });

  test("keeps line breaks, a byte order mark and mixed breaks", async () => {
    for (const [name, text] of [
      ["windows.txt", "\ufeffone\r\ntwo\r\n"],
      ["mixed.txt", "one\r\ntwo\nthree\r"],
    ] as const) {
      await openFile(name, text);
      await type(name, "end");
      await save().click();
      await expect.poll(() => onDisk(name)).toBe(`${text}end`);
    }
  });

  test("shows a conflict, the differences, and overwrites or reloads", async () => {
    await openFile("shared.txt", "one\ntwo\n");
    await type("shared.txt", "mine");
    await put("shared.txt", "one\nTWO of the agent\n");
    await save().click();
    const conflict = page.getByText("This file has changed on the agent's machine");
    await conflict.waitFor();
    expect(await onDisk("shared.txt")).toBe("one\nTWO of the agent\n");
    expect(await page.getByText("Saved", { exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Show differences" }).click();
    await page.locator(".cm-deletedChunk").getByText("TWO of the agent").waitFor();
    await page.getByRole("button", { name: "Hide differences" }).click();
    await page.getByRole("button", { name: "Overwrite" }).click();
    await expect.poll(() => onDisk("shared.txt")).toBe("one\ntwo\nmine");
    await conflict.waitFor({ state: "detached" });
    await type("shared.txt", " again");
    await put("shared.txt", "theirs\n");
    await page.keyboard.press("Control+s");
    await page.getByRole("button", { name: "Reload" }).click();
    await content("shared.txt").getByText("theirs").waitFor();
    expect(await save().isDisabled()).toBe(true);
    expect(await onDisk("shared.txt")).toBe("theirs\n");
  });

  test("a file that the agent changes is refreshed, and unsaved edits stay", async () => {
    const { client } = dashboard.service;
    await openFile("report.txt", "draft\n");
    await content("report.txt").getByText("draft").waitFor();
    await client.ask("ada", "write report.txt final");
    await content("report.txt").getByText("final").waitFor();
    expect(await save().isDisabled()).toBe(true);
    await type("report.txt", "mine");
    await client.ask("ada", "write report.txt other");
    await page.getByText("This file has changed on the agent's machine").waitFor();
    expect(await content("report.txt").textContent()).toContain("mine");
  });

  test("a file that was deleted can be saved again", async () => {
    await openFile("gone.txt", "text\n");
    await type("gone.txt", "more");
    await rm(join(home, "gone.txt"));
    await save().click();
    await page.getByText("This file was deleted on the agent's machine").waitFor();
    await save().click();
    await expect.poll(() => onDisk("gone.txt").catch(() => null)).toBe("text\nmore");
  });

  test("asks before edits are lost, on the way to another file, too", async () => {
    await put("other.txt", "other\n");
    await openFile("unsaved.txt", "text\n");
    await type("unsaved.txt", "precious");
    const asks = page.getByRole("dialog", { name: "Leave without saving?" });
    await page.getByRole("navigation", { name: "Folder tree" }).getByRole("link", { name: "other.txt" }).click();
    await asks.getByRole("button", { name: "Stay" }).click();
    await page.getByRole("link", { name: "Ports", exact: true }).click();
    await asks.getByRole("button", { name: "Stay" }).click();
    expect(await content("unsaved.txt").textContent()).toContain("precious");
    await page.getByRole("navigation", { name: "Folder tree" }).getByRole("link", { name: "other.txt" }).click();
    await asks.getByRole("button", { name: "Leave" }).click();
    await content("other.txt").waitFor();
    expect(await onDisk("unsaved.txt")).toBe("text\n");
  });

  test("searches, and wraps lines as the browser remembers", async () => {
    await openFile("long.txt", `${"word ".repeat(400)}needle\n`);
    const width = () => page.locator(".cm-scroller").evaluate((each) => each.scrollWidth - each.clientWidth);
    await expect.poll(width).toBe(0);
    const wrap = page.getByRole("button", { name: "Wrap lines" });
    await wrap.click();
    await expect.poll(width).toBeGreaterThan(0);
    await page.reload();
    expect(await wrap.getAttribute("aria-pressed")).toBe("false");
    await wrap.click();
    await page.getByRole("button", { name: "Find", exact: true }).click();
    await page.getByRole("textbox", { name: "Find" }).pressSequentially("needle");
    await page.keyboard.press("Enter");
    await page.locator(".cm-searchMatch-selected").waitFor();
    expect(await page.evaluate("window.violations")).toEqual([]);
  });

  test("previews Markdown and SVG without running what is in them", async () => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).host));
    const hostile = "# Title\n\n<img src=x onerror='window.hacked = 1'>\n\n[a](javascript:window.hacked=2)\n";
    await openFile("README.md", hostile);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("region", { name: "Preview" }).getByRole("heading", { name: "Title" }).waitFor();
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>parent.hacked = 3</script><image href="https://evil.example/x.png"/></svg>`;
    await openFile("picture.svg", svg);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("img", { name: "picture.svg" }).waitFor();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(asked).not.toContain("evil.example");
    expect(await page.evaluate("window.violations")).toEqual([]);
  });

  test("shows pictures, and offers a download for anything else", async () => {
    await openFile("picture.png", png(40, 30));
    await expect
      .poll(() =>
        page
          .getByRole("img", { name: "picture.png" })
          .evaluate((each) => (each as unknown as { naturalWidth: number }).naturalWidth),
      )
      .toBe(40);
    for (const [name, bytes, reason] of [
      ["broken.png", Buffer.from("no picture"), "not a picture"],
      ["data.bin", Buffer.from([1, 0, 2]), "not text in UTF-8"],
      ["latin.txt", Buffer.from([0x61, 0xe9, 0x62]), "not text in UTF-8"],
      ["large.txt", Buffer.alloc(3_000_000, "x"), "too large to show (2.9 MiB)"],
    ] as const) {
      await openFile(name, bytes);
      await page.getByText(reason).waitFor();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: `Download ${name}` }).click(),
      ]);
      expect((await readFile(await download.path())).equals(bytes)).toBe(true);
    }
    await goto("?file=nothing-here.txt");
    await page.getByText("File not found").waitFor();
    await goto("?file=/");
    await page.getByRole("region", { name: "Folder" }).waitFor();
  });

  test("text that is repeated without end does not end the page", async () => {
    await openFile("bomb.md", `${">".repeat(20_000)}${"[".repeat(20_000)}`);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("region", { name: "Preview" }).waitFor();
    await openFile("line.json", `{"a": "${"x".repeat(1_500_000)}"}`);
    await content("line.json").waitFor();
    await page.getByRole("heading", { level: 1, name: "ada" }).waitFor();
  });

  test("a failed save says why, and keeps the edits", async () => {
    await openFile("kept.txt", "text\n");
    await type("kept.txt", "more");
    await page.route("**/agents/ada/files/kept.txt", (route) =>
      route.request().method() === "PUT"
        ? route.fulfill({ status: 507, json: { code: "disk_full", message: "The disk of the machine is full." } })
        : route.continue(),
    );
    await save().click();
    await page.getByText("The disk of the machine is full.").waitFor();
    await page.unroute("**/agents/ada/files/kept.txt");
    await save().click();
    await expect.poll(() => onDisk("kept.txt")).toBe("text\nmore");
  });
});

describe("a folder", () => {
  test("has folders first, hides dot files, sorts, filters, and remembers", async () => {
    await mkdir(join(home, "sorted/zoo"), { recursive: true });
    for (const [name, size] of [
      ["b10", 5],
      ["b9", 50],
      ["a", 20],
      [".hidden", 1],
    ] as const) {
      await put(`sorted/${name}`, "x".repeat(size));
    }
    await goto("?path=sorted");
    await expect.poll(names).toEqual(["zoo", "a", "b9", "b10"]);
    await page.getByRole("button", { name: "Display" }).click();
    await page.getByRole("menuitemradio", { name: "Sort by size" }).click();
    await expect.poll(names).toEqual(["zoo", "b9", "a", "b10"]);
    await page.getByRole("button", { name: "Show hidden files" }).click();
    await expect.poll(names).toEqual(["zoo", "b9", "a", "b10", ".hidden"]);
    await page.reload();
    await expect.poll(names).toEqual(["zoo", "b9", "a", "b10", ".hidden"]);
    await page.evaluate("localStorage.clear()");
  });

  test("draws 5,000 files as far as they were scrolled to, and finds each by its name", {
    timeout: 120_000,
  }, async () => {
    await mkdir(join(home, "many"));
    for (let number = 0; number < 5_000; number++) await put(`many/file-${number}.txt`, "");
    await goto("?path=many");
    await table().getByRole("link", { name: "file-0.txt" }).waitFor();
    expect(await table().getByRole("row").count()).toBeLessThan(500);
    await table().getByRole("link", { name: "file-199.txt" }).scrollIntoViewIfNeeded();
    await table().getByRole("link", { name: "file-250.txt" }).waitFor();
    await page.getByRole("searchbox", { name: "Filter by name" }).fill("4999");
    await expect.poll(names).toEqual(["file-4999.txt"]);
    await rm(join(home, "many"), { recursive: true });
  });

  test("shows what the agent has written when its turn ends", async () => {
    await goto();
    await table().waitFor();
    await dashboard.service.client.ask("ada", "write written-by-the-agent.txt x");
    await table().getByRole("link", { name: "written-by-the-agent.txt" }).waitFor();
    await put("written-later.txt", "x");
    await page.getByRole("button", { name: "Refresh" }).click();
    await table().getByRole("link", { name: "written-later.txt" }).waitFor();
  });

  test("a new file is opened, and a name that is taken or invalid is refused", async () => {
    const dialog = page.getByRole("dialog");
    const create = async (name: string) => {
      await dialog.getByRole("textbox", { name: "Name" }).fill(name);
      await dialog.getByRole("button", { name: "Create" }).click();
    };
    await put("taken.txt", "precious");
    await goto();
    await page.getByRole("button", { name: "New file" }).click();
    await create("taken.txt");
    await dialog.getByRole("alert").getByText("taken.txt already exists").waitFor();
    await create("a/b.txt");
    await dialog.getByRole("alert").getByText("contain a slash").waitFor();
    await create("..");
    await dialog.getByRole("alert").getByText("contain a slash").waitFor();
    await create("made.txt");
    await content("made.txt").waitFor();
    expect(await onDisk("made.txt")).toBe("");
    expect(await onDisk("taken.txt")).toBe("precious");
  });

  test("hostile names are shown as text, and their files open", async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a name
    const hostile = ["<img src=x onerror=alert(1)>.txt", "%2e%2e%2f.txt", "a?b#c&d=e.txt", "‮txt.exe", "'\"`${1}.md"];
    for (const name of hostile) await put(name, `in ${name}`);
    await symlink("/nonexistent", join(home, "dangling"));
    await goto();
    for (const name of hostile) {
      await table().getByRole("link", { name, exact: true }).click();
      await content(name).getByText("in ").waitFor();
      await page.goBack();
    }
    await table().getByRole("link", { name: "dangling" }).click();
    await page.getByText("This link leads to /nonexistent, which does not exist.").waitFor();
    expect(await page.evaluate("window.violations")).toEqual([]);
  });

  test("quick open finds a file by parts of its path, with the keyboard alone", async () => {
    await mkdir(join(home, "project/src/deep"), { recursive: true });
    await mkdir(join(home, "project/node_modules/pkg"), { recursive: true });
    await put("project/src/deep/target.ts", "export {};\n");
    await put("project/node_modules/pkg/target.ts", "");
    await goto();
    await table().waitFor();
    await page.keyboard.press("Control+p");
    await page.getByRole("combobox", { name: "Open a file by its name" }).fill("srctarget");
    await page.getByRole("option", { name: "project/src/deep/target.ts" }).waitFor();
    await page.keyboard.press("Enter");
    await content("target.ts").waitFor();
    expect(new URL(page.url()).searchParams.get("file")).toBe("project/src/deep/target.ts");
    const tree = page.getByRole("navigation", { name: "Folder tree" });
    await tree.getByRole("link", { name: "deep" }).click();
    await expect.poll(names).toEqual(["target.ts"]);
  });
});
