import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard, viewsOf } from "../support/dashboard.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let dashboard: Dashboard;
let page: Page;
const size = { width: 390, height: 844 };

beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  await service.client.ask("ada", "hello");
  await service.client.fetch("PUT", "/agents/ada/files/notes.md", "# Notes", {
    "content-type": "application/octet-stream",
  });
  await service.client.ask("ada", "write a.txt one");
  await service.client.call("POST", "/agents/ada/snapshots", { name: "milestone" });
  await service.client.call("POST", "/keys", { name: "laptop" });
  dashboard = await Dashboard.of(service);
  ({ page } = await dashboard.signedIn({ viewport: size, hasTouch: true, isMobile: true }));
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const goto = async (path: string) => {
  await page.goto(dashboard.url + path);
  await page.getByRole("heading").first().waitFor();
  await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0);
};

/** Elements outside of text that are tapped, and are smaller than a finger. */
const small = `[...document.querySelectorAll("button, select, summary, nav a, [role=dialog] input, label:has(> input), .min-h-9, .tap")]
  .map((each) => [each.getAttribute("aria-label") || each.textContent.slice(0, 40) || each.outerHTML.slice(0, 80), each.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 1 && height > 1 && (height < 44 || width < 44))
  .map(([name, { width, height }]) => name + " " + Math.round(width) + "×" + Math.round(height))`;

test("all that is tapped is at least 44 pixels high and wide, and no view is wider than the screen", {
  timeout: 240_000,
}, async () => {
  const found: string[] = [];
  for (const path of viewsOf("ada")) {
    await goto(path);
    for (const each of (await page.evaluate(small)) as string[]) found.push(`${path}: ${each}`);
    const width = (await page.evaluate("document.documentElement.scrollWidth")) as number;
    if (width > size.width) found.push(`${path} is ${width} wide`);
  }
  expect(found).toEqual([]);
});

test.each([
  ["/-/agents/ada/snapshots", "milestone", ["Made: ", "Size: "]],
  ["/-/agents/ada/turns", "hello", ["Began: ", "Took: ", "Tokens in, out: "]],
  ["/-/keys", "laptop", ["Agents: ", "Expires: "]],
  ["/-/agents", "ada", ["Runtime: ", "Model: "]],
])(
  "the columns that %s has no room for are below the others, with their names",
  { timeout: 120_000 },
  async (path, text, names) => {
    await goto(path);
    const row = page.getByRole("row").filter({ hasText: text });
    await row.waitFor();
    const cells = (await page.evaluate(`[...document.querySelectorAll("tbody tr")]
    .find((each) => each.textContent.includes("${text}"))
    .querySelectorAll("td")
    .values()
    .map((cell) => {
      const { left, right, top } = cell.getBoundingClientRect();
      return { name: getComputedStyle(cell, "::before").content.replaceAll(/^"|"$|" "/g, ""), left, right, top };
    })
    .toArray()`)) as { name: string; left: number; right: number; top: number }[];
    for (const name of names) {
      const cell = cells.find((each) => each.name === name);
      expect(cell, name).toBeDefined();
      expect(cell!.top, name).toBeGreaterThan(cells[0]!.top);
    }
    for (const { left, right } of cells) {
      expect(left).toBeGreaterThanOrEqual(0);
      expect(right).toBeLessThanOrEqual(size.width);
    }
  },
);

test("the tabs of an agent show that there are more at the side", async () => {
  await goto("/-/agents/ada");
  const tabs = page.getByRole("navigation", { name: "Views of ada" });
  await tabs.waitFor();
  const bar = `document.querySelector("nav[aria-label='Views of ada']")`;
  expect(await page.evaluate(`${bar}.scrollWidth > ${bar}.clientWidth`)).toBe(true);
  expect(await page.evaluate(`getComputedStyle(${bar}).backgroundAttachment`)).toContain("local");
  // Only opened, a conversation does not bring up the keyboard.
  await page.getByLabel("Message to ada").waitFor();
  expect(await page.evaluate("document.activeElement.tagName")).not.toBe("TEXTAREA");
});
