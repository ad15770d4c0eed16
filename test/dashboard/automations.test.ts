import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { Dashboard } from "../support/dashboard.ts";

// Automations in the browser: created, run, changed, paused and deleted.

let dashboard: Dashboard;
let client: TestClient;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  client = dashboard.service.client;
  await client.createAgent("ada");
  ({ page } = await dashboard.signedIn({ timezoneId: "Europe/Berlin", locale: "en-GB" }));
  await page.goto(`${dashboard.url}/-/automations`);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const dialog = () => page.getByRole("dialog");
const row = (text: string) => page.getByRole("row").filter({ hasText: text });
const button = (name: string) => page.getByRole("button", { name, exact: true });
const automation = async () => (await client.call("GET", "/automations/nightly")).body;

test("the editor shows the next five times in words, and what is wrong with a line", async () => {
  await page.getByText("No automations yet").waitFor();
  await page.getByRole("button", { name: "Create an automation" }).click();
  const times = dialog().getByRole("list", { name: "Next times" }).getByRole("listitem");
  await expect.poll(() => times.count()).toBe(5);
  await dialog().getByLabel("Repeats").selectOption("By a line of cron");
  await dialog().getByLabel("Line of cron").fill("0 0 30 2 *");
  await dialog().getByRole("alert").filter({ hasText: "never happens: no month has such a day." }).waitFor();
  await dialog().getByLabel("Line of cron").fill("30 4 1 1 *");
  await times
    .first()
    .filter({ hasText: /1 January \d{4} at 04:30/ })
    .waitFor();
  await dialog().getByLabel("Time zone").fill("Nowhere/Atlantis");
  await dialog().getByRole("alert").filter({ hasText: "IANA" }).waitFor();
  await dialog().getByLabel("Time zone").fill("Asia/Tokyo");
  await times
    .first()
    .filter({ hasText: /1 January \d{4} at 04:30/ })
    .waitFor();
});

test("an automation is created, also a second one of its name is refused in place", async () => {
  await dialog().getByLabel("Name").fill("nightly");
  await dialog().getByLabel("Agent").selectOption("ada");
  await dialog().getByLabel("Message").fill("Grüße, prüf die Abhängigkeiten 🚧");
  await dialog().getByLabel("Repeats").selectOption("Monday to Friday");
  await dialog().getByLabel("Time", { exact: true }).fill("03:30");
  await dialog().getByText("More settings").click();
  await dialog().getByLabel("Credits of a run").fill("12.5");
  await dialog().getByRole("button", { name: "Create it" }).click();
  await page.getByRole("heading", { level: 1, name: "nightly" }).waitFor();
  await page.getByText("Monday to Friday at 03:30, Asia/Tokyo").waitFor();
  expect(await automation()).toMatchObject({
    agent: "ada",
    trigger: { type: "schedule", cron: "30 3 * * 1-5", timeZone: "Asia/Tokyo" },
    maxCredits: "12.5",
  });
  await page.goto(`${dashboard.url}/-/automations`);
  await row("nightly").getByText("Monday to Friday at 03:30").waitFor();
  await page.getByRole("button", { name: "Create an automation" }).click();
  await dialog().getByLabel("Name").fill("nightly");
  await dialog().getByLabel("Agent").selectOption("ada");
  await dialog().getByLabel("Message").fill("again");
  await dialog().getByRole("button", { name: "Create it" }).click();
  await dialog().getByText("There is already an automation nightly.").waitFor();
  await dialog().getByRole("button", { name: "Cancel" }).click();
});

test("a run is started, and its reply is shown", async () => {
  await row("nightly").getByRole("link", { name: "nightly" }).click();
  await page.getByText("It has not run yet").waitFor();
  await button("Run now").click();
  await row("completed").getByRole("button").click();
  await dialog().getByText("Grüße, prüf die Abhängigkeiten 🚧").first().waitFor();
  await dialog().getByRole("link", { name: "The turn of ada" }).click();
  await page.waitForURL(/\/-\/agents\/ada\/turns\//);
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "nightly" }).waitFor();
});

test("a second run while one is in progress is refused in place", async () => {
  await client.call("PATCH", "/automations/nightly", { message: "count 1000 20" });
  await button("Run now").click();
  await row("running").waitFor();
  await button("Run now").click();
  await page.getByRole("alert").filter({ hasText: "The run before had not ended." }).waitFor();
  await page.reload();
});

test("it is changed: its schedule, and copies of the agent in place of the agent", async () => {
  await button("Edit").click();
  await dialog().getByLabel("Repeats").selectOption("Every week");
  await dialog().getByLabel("Day").selectOption("Friday");
  await dialog().getByLabel("Each run").selectOption("has a fresh copy of it");
  await dialog().getByLabel("Hours that the copy is kept").fill("12");
  await dialog().getByRole("button", { name: "Save" }).click();
  await page.getByText("Every Friday at 03:30, Asia/Tokyo").waitFor();
  await page.getByText("Each run has a copy of ada, without its secrets, kept for 12 hours.").waitFor();
  expect(await automation()).toMatchObject({ agent: null, from: { agent: "ada", secrets: false }, keep: 12 });
  await button("Edit").click();
  expect(await dialog().getByLabel("Day").inputValue()).toBe("5");
  await dialog().getByRole("button", { name: "Save" }).click();
  await dialog().waitFor({ state: "detached" });
});

test("it is paused and resumed", async () => {
  await button("Pause").click();
  await page.getByText("It is paused.").waitFor();
  expect((await automation()).paused).toBe(true);
  await button("Resume").click();
  await button("Pause").waitFor();
  expect((await automation()).nextRunAt).not.toBeNull();
});

test("one that has paused because its agent was deleted is on the home page, with the reason", async () => {
  await client.createAgent("bob");
  const trigger = { type: "schedule", cron: "0 3 * * *", timeZone: "UTC" };
  const asked = { name: "orphan", agent: "bob", message: "hello", trigger };
  expect((await client.call("POST", "/automations", asked)).status).toBe(201);
  expect((await client.call("DELETE", "/agents/bob")).status).toBe(204);
  await page.getByRole("link", { name: "Home" }).first().click();
  await page.getByRole("link", { name: "The automation orphan has paused" }).click();
  await page.getByRole("alert").filter({ hasText: "It has paused" }).waitFor();
});

test("an agent may schedule messages to itself, and what it made is marked", async () => {
  await client.createAgent("eve");
  await page.goto(`${dashboard.url}/-/agents/eve/settings`);
  const section = page.getByRole("region", { name: "Own schedules" });
  await section.getByLabel("May schedule messages").check();
  await section.getByLabel("Minutes between two").fill("30");
  await section.getByRole("button", { name: "Save" }).click();
  await expect
    .poll(async () => (await client.call("GET", "/agents/eve")).body.schedules)
    .toMatchObject({
      max: 5,
      everyMinutes: 30,
    });
  await client.ask("eve", 'own schedule {"message":"Call the bank.","inMinutes":90}');
  await page.goto(`${dashboard.url}/-/automations`);
  await row("made by the agent").getByRole("link").click();
  await page.getByText("The agent made it, for a message of").waitFor();
  await page.getByText("Call the bank.").waitFor();
});

test("it is deleted with its runs", async () => {
  await page.goto(`${dashboard.url}/-/automations/nightly`);
  await button("Delete").click();
  await dialog().getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { level: 1, name: "Automations" }).waitFor();
  await row("orphan").waitFor();
  await row("nightly").waitFor({ state: "detached" });
  expect((await client.call("GET", "/automations/nightly")).status).toBe(404);
});

test("on a phone, the views that have no room are in a menu, and nothing is wider than the screen", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  const views = page.getByRole("navigation", { name: "Views", exact: true });
  await expect
    .poll(() => views.getByRole("link").allTextContents())
    .toEqual(["Home", expect.stringMatching(/Inbox$/), "Agents", "Automations"]);
  await button("Create an automation").click();
  await dialog().getByRole("list", { name: "Next times" }).waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  await dialog().getByRole("button", { name: "Cancel" }).click();
  await views.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Members" }).click();
  await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
});
