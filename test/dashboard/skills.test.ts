import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { described, putSkill, skillText, tarOf } from "../support/skill-archives.ts";

// The workspace's skills in the browser: added, read, limited to some agents, and deleted.

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  for (const name of ["ada", "bob"]) await dashboard.service.client.createAgent(name);
  ({ page } = await dashboard.signedIn());
  await page.goto(`${dashboard.url}/-/skills`);
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
});

const dialog = () => page.getByRole("dialog");
const row = (text: string) => page.getByRole("row").filter({ hasText: text });
const skill = async () => (await dashboard.service.client.call("GET", "/skills/pdf-forms")).body;

test("a skill is added from an archive for all agents, and refused if it is not valid", async () => {
  await page.getByText("No skills yet").waitFor();
  await page.getByRole("button", { name: "Add a skill" }).click();
  await dialog().getByLabel("Name").fill("pdf-forms");
  await dialog().getByLabel("Files").selectOption("From an archive");
  const upload = async (entries: Parameters<typeof tarOf>[0]) => {
    const file = { name: "skill.tar", mimeType: "application/x-tar", buffer: await tarOf(entries) };
    await dialog().getByLabel("Archive").setInputFiles(file);
    await dialog().getByRole("button", { name: "Add it" }).click();
  };
  await upload({ "a.md": "a" });
  await dialog().getByRole("alert").filter({ hasText: "has no SKILL.md" }).waitFor();
  await upload({
    "SKILL.md": skillText("pdf-forms", described, "allowed-tools: Read"),
    "scripts/fill.py": { mode: 0o755, text: "print()" },
  });
  await row("pdf-forms").getByText("scripts/fill.py, Read").waitFor();
  expect(await skill()).toMatchObject({ agents: null, source: { type: "archive" } });
});

test("its instructions and files are read as text", async () => {
  await putSkill(dashboard.service.client, "pdf-forms", {
    "SKILL.md": `${skillText("pdf-forms", described)}<img src=x onerror=alert(1)>`,
    "scripts/fill.py": { mode: 0o755, text: "print()" },
  });
  await row("pdf-forms").getByRole("button", { name: "Read" }).click();
  await dialog().getByText("<img src=x onerror=alert(1)>").waitFor();
  await dialog().getByText("7 B, executable").waitFor();
  expect(await dialog().locator("img").count()).toBe(0);
  await page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });
});

test("it is limited to some agents, and a wrong address of git is refused", async () => {
  await row("pdf-forms").getByRole("button", { name: "Edit" }).click();
  await dialog().getByLabel("Agents", { exact: true }).selectOption("Only some");
  await dialog().getByLabel("ada").check();
  await dialog().getByLabel("Files").selectOption("From a git repository");
  await dialog().getByLabel("Address").fill("https://localhost/skills");
  await dialog().getByRole("button", { name: "Save" }).click();
  await dialog().getByRole("alert").filter({ hasText: "not on the public internet" }).waitFor();
  await dialog().getByLabel("Files").selectOption("Stay as they are");
  await dialog().getByRole("button", { name: "Save" }).click();
  await dialog().waitFor({ state: "detached" });
  await expect.poll(skill).toMatchObject({ agents: ["ada"], source: { type: "archive" } });
});

test("it is deleted after a question, and the page follows another client", async () => {
  await row("pdf-forms").getByRole("button", { name: "Delete" }).click();
  await dialog().getByRole("button", { name: "Delete" }).click();
  await page.getByText("No skills yet").waitFor();
  expect((await skill()).code).toBe("skill_not_found");
  await putSkill(dashboard.service.client, "from-elsewhere");
  await row("from-elsewhere").waitFor();
});
