import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { Dashboard } from "../support/dashboard.ts";
import { deltasOf } from "../support/scripted-runtime.ts";

// A conversation over time: streams, breaks, other pages, the queue.

let dashboard: Dashboard;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start({ port: await freePort() });
  ({ context, page } = await dashboard.signedIn());
});
afterAll(() => dashboard[Symbol.asyncDispose]());

async function open(name: string, on = page): Promise<void> {
  await on.goto(`${dashboard.url}/-/agents/${name}`);
  await on.getByLabel(`Message to ${name}`).waitFor();
}

async function send(name: string, message: string, on = page): Promise<Locator> {
  await on.getByLabel(`Message to ${name}`).fill(message);
  await on.keyboard.press("Enter");
  return turnOf(message, on);
}

function turnOf(message: string, on = page): Locator {
  return on.getByRole("article", { name: `Turn: ${message}` });
}

/** The answer's words, when the turn has ended. */
async function answerOf(turn: Locator): Promise<string> {
  await turn.getByRole("button", { name: "Copy the answer" }).waitFor({ timeout: 60_000 });
  return (await turn.locator(".prose").textContent())!.trim();
}

test("a server that is restarted in mid-stream costs nothing: the answer is whole, and once", async () => {
  await dashboard.service.client.createAgent("ada");
  await open("ada");
  const turn = await send("ada", "count 80 60");
  await turn.getByText("1 2 3 4 5").waitFor();
  await dashboard.service.restart();
  await expect.poll(() => answerOf(turn)).toBe(deltasOf("count 80").join("").trim());
  expect(await page.getByRole("article").count()).toBe(1);
  await page.getByText("Can't reach the server").waitFor({ state: "detached" });
});

test("a message that reaches the running turn is shown in it", async () => {
  const { client } = dashboard.service;
  await client.createAgent("sam");
  await open("sam");
  const turn = await send("sam", "listen 1");
  await turn.getByRole("status").waitFor();
  const steer = () => client.fetch("POST", "/agents/sam/chat", { message: "Only the tests.", whenBusy: "steer" });
  await expect.poll(async () => (await client.call("GET", "/agents/sam/files/.local/state/messages")).status).toBe(200);
  expect((await steer()).headers.get("x-berth-placed")).toBe("steered");
  await turn.getByRole("paragraph").filter({ hasText: "Only the tests." }).first().waitFor();
  expect(await answerOf(turn)).toBe("Only the tests.");
});

test("two pages see the same turn live, whichever of them began it", async () => {
  await dashboard.service.client.createAgent("bea");
  const other = await context.newPage();
  await open("bea");
  await open("bea", other);
  const turn = await send("bea", "count 150 60");
  const seen = turnOf("count 150 60", other);
  await seen.getByText("1 2 3 4 5").waitFor();
  expect(await seen.getByRole("status").count()).toBe(1);
  const whole = deltasOf("count 150").join("").trim();
  expect([await answerOf(turn), await answerOf(seen)]).toEqual([whole, whole]);
  await other.close();
});

test("what is typed while the agent works waits, can be changed and removed, and is held by an interruption", async () => {
  await dashboard.service.client.createAgent("carl");
  await open("carl");
  const first = await send("carl", "hang");
  await first.getByRole("status").waitFor();
  await send("carl", "the second");
  await send("carl", "not this");
  const queue = page.getByRole("list", { name: "Queued messages" });
  await queue.getByRole("button", { name: "Move up: not this" }).click();
  await queue.getByRole("listitem").first().getByText("not this").waitFor();
  await queue.getByRole("button", { name: "Remove: not this" }).click();
  await queue.getByRole("button", { name: "Edit: the second" }).click();
  await send("carl", "the second, changed");
  await queue.getByText("the second, changed").waitFor();
  expect(await page.getByRole("article").count()).toBe(1);
  // Messages that were removed are not in the conversation.
  await page.reload();
  await queue.getByText("the second, changed").waitFor();
  await expect.poll(() => page.getByRole("article").count()).toBe(1);
  await first.getByRole("status").waitFor();
  await page.keyboard.press("Escape");
  await first.getByText("Interrupted.").waitFor();
  // An interruption sends nothing that waited.
  await page.getByText("1 message is held").waitFor();
  expect(await page.getByRole("article").count()).toBe(1);
  await page.reload();
  await page.getByText("1 message is held").waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await expect.poll(() => answerOf(turnOf("the second, changed"))).toBe("the second, changed");
  await queue.waitFor({ state: "detached" });
});

test("a turn that fails says why, and is sent again; a past message is edited and sent", async () => {
  await dashboard.service.client.createAgent("dora");
  await open("dora");
  const turn = await send("dora", "crash");
  await turn.getByRole("alert").getByText("This turn failed").waitFor();
  const message = page.getByLabel("Message to dora");
  await message.fill("a precious draft");
  await turn.getByRole("button", { name: "Edit and send again" }).click();
  expect(await message.inputValue()).toBe("crash");
  await page.getByRole("button", { name: "Restore it" }).click();
  expect(await message.inputValue()).toBe("a precious draft");
  await message.fill("");
  await turn.getByRole("button", { name: "Edit and send again" }).click();
  expect(await message.inputValue()).toBe("crash");
  expect(await page.getByText("Your draft was replaced").count()).toBe(0);
  const again = await send("dora", "it is well");
  await expect.poll(() => answerOf(again)).toBe("it is well");
});

test("a tool call is folded, with its input and output; a draft outlives a reload", async () => {
  await dashboard.service.client.createAgent("emil");
  await open("emil");
  const turn = await send("emil", "tool");
  await turn.getByText("Bash").click();
  await turn.getByText("date", { exact: true }).waitFor();
  await turn.getByText("null character").waitFor();
  await page.getByLabel("Message to emil").fill("half a thought");
  await page.reload();
  await page.getByText("Bash").waitFor();
  expect(await page.getByLabel("Message to emil").inputValue()).toBe("half a thought");
});

test("calls of tools are one line that opens, with the terminal's colours, and one that was cut off is stopped", async () => {
  await dashboard.service.client.createAgent("tom");
  await open("tom");
  const bash = (command: string) => ({ name: "Bash", title: command, input: { command } });
  const calls = [
    { ...bash("npm test"), output: "\x1b[31m1 failed\x1b[0m\n10 %\r100 %", status: "failed" },
    {
      name: "Edit",
      title: "Edit a.ts",
      input: { file_path: "a.ts", old_string: "a", new_string: "b" },
      output: "done",
    },
    {
      name: "Edit",
      title: "Edit a.ts",
      input: { file_path: "a.ts", old_string: "b", new_string: "c" },
      output: "done",
    },
    bash("sleep 60"),
  ];
  await send("tom", `tools ${JSON.stringify(calls)}`);
  const turn = page.getByRole("article");
  const group = turn.locator("summary").filter({ hasText: "Ran 1 command, edited 1 file, 1 failed" });
  await group.getByLabel("failed").waitFor();
  const running = turn.locator("summary").filter({ hasText: "sleep 60" });
  await running.getByLabel("running").waitFor();
  await running.getByText(/^[1-9] s$/).waitFor();
  const placeOf = async () => (await group.boundingBox())!.y;
  const before = await placeOf();
  const opened = turn.locator("summary").filter({ hasText: "Edit a.ts" }).first();
  await group.click();
  await opened.waitFor();
  await expect.poll(placeOf).toBe(before);
  const failed = turn.locator("summary").filter({ hasText: "npm test" });
  await failed.click();
  const red = turn.locator("pre span").filter({ hasText: /^1 failed$/ });
  await red.waitFor();
  expect(await red.getAttribute("class")).toBe("text-bad");
  expect(await turn.locator("pre").filter({ hasText: "1 failed" }).textContent()).toBe("1 failed\n100 %");
  await expect.poll(placeOf).toBe(before);
  await page.getByRole("button", { name: "Interrupt" }).click();
  await running.getByLabel("stopped").waitFor();
  await page.reload();
  const whole = turn.locator("summary").filter({ hasText: "Ran 2 commands, edited 1 file, 1 failed" });
  await whole.click();
  await running.getByLabel("stopped").waitFor();
});

test("a turn that is over is shown whole where its events break off, and they are read again", async () => {
  await dashboard.service.client.createAgent("fay");
  await open("fay");
  await answerOf(await send("fay", "it is well"));
  const events = "**/agents/fay/turns/*/events*";
  // The document has no turns then. These are as of a turn whose events are too large for the list.
  await page.context().clearCookies({ name: "berth_dashboard", path: "/-/" });
  await page.route("**/agents/fay/turns?*", async (route) => {
    const response = await route.fetch();
    const list = await response.json();
    const data = list.data.map((each: object) => ({ ...each, events: null }));
    await route.fulfill({ response, json: { ...list, data } });
  });
  const refusal = { statusCode: 403, error: "Forbidden", code: "forbidden", message: "This is refused." };
  const half = { type: "response.output_text.delta", delta: "it is" };
  let requests = 0;
  await page.route(events, (route) =>
    requests++ === 0
      ? route.fulfill({ contentType: "text/event-stream", body: `id: 2\ndata: ${JSON.stringify(half)}\n\n` })
      : route.fulfill({ status: 403, json: refusal }),
  );
  await page.reload();
  const turn = turnOf("it is well");
  await turn.getByText("This is refused.").waitFor();
  expect(await answerOf(turn)).toBe("it is well");
  await page.unroute(events);
  await turn.getByRole("button", { name: "Try again" }).click();
  await turn.getByText("This is refused.").waitFor({ state: "detached" });
  expect(await answerOf(turn)).toBe("it is well");
  await page.unrouteAll({ behavior: "wait" });
});

test("a call of a client's function waits to be seen, and is answered by hand or by its client", async () => {
  const { client } = dashboard.service;
  await client.createAgent("henk");
  const tools = [{ type: "function", name: "weather", parameters: { type: "object" } }];
  const ask = async (input: unknown, more = {}) =>
    (await client.call("POST", "/v1/responses", { model: "henk", input, conversation: "conversation-1", ...more }))
      .body;
  await open("henk");
  await ask('call weather {"city":"Oslo"}', { tools });
  const turn = turnOf("call weather").last();
  await turn.getByRole("status").getByText("waiting for the result of weather").waitFor();
  await turn.getByText("waiting for its result").click();
  await turn.getByText('"city": "Oslo"').waitFor();
  await turn.getByLabel("Result of weather").fill("rain");
  await turn.getByRole("button", { name: "Give the result" }).click();
  await expect.poll(() => answerOf(turn)).toBe("rain");
  await turn.getByText("answered by the client").waitFor();

  const { output } = await ask('call weather {"city":"Rome"}', { tools });
  const [call] = output.filter(({ type }: { type: string }) => type === "function_call");
  const second = turnOf("call weather").last();
  await second.getByText("waiting for its result").click();
  await second.getByText('"city": "Rome"').waitFor();
  await ask([{ type: "function_call_output", call_id: call.call_id, output: "sun" }]);
  await expect.poll(() => answerOf(second)).toBe("sun");
  expect(await second.getByLabel("Result of weather").count()).toBe(0);
  await second.locator("pre").getByText("sun").waitFor();
});

test("hundreds of turns: only those in view are in the page, and older ones come while scrolling", async () => {
  await dashboard.service.client.createAgent("fritz");
  for (let at = 1; at <= 90; at++) await dashboard.service.client.ask("fritz", `message ${at}`);
  await open("fritz");
  await turnOf("message 90").waitFor();
  expect(await page.getByRole("article").count()).toBeLessThan(30);
  const list = page.getByRole("region", { name: "Conversation", exact: true });
  await list.hover();
  await expect
    .poll(
      async () => {
        await page.mouse.wheel(0, -3_000);
        return turnOf("message 1").count();
      },
      { timeout: 60_000 },
    )
    .toBeGreaterThan(0);
  await page.getByRole("button", { name: "Jump to latest" }).click();
  await turnOf("message 90").waitFor();
});

test("what is in view stays where it is while turns that were scrolled to are shown in full", async () => {
  await dashboard.service.client.createAgent("gerd");
  const text = "\n\nWords of one paragraph.\n\n```ts\nconst a = 1;\nconst b = 2;\n```\n\nAnd the end.";
  for (let at = 1; at <= 40; at++) await dashboard.service.client.ask("gerd", at % 4 === 0 ? "tool" : `n ${at}${text}`);
  await open("gerd");
  await turnOf("tool").last().waitFor();
  await page.getByRole("region", { name: "Conversation", exact: true }).hover();
  for (let step = 0; step < 12; step++) {
    await page.mouse.wheel(0, -700);
    await expect.poll(() => page.evaluate(isScrolling)).toBe(false);
    const tops = await page.evaluate<Record<string, number>[]>(topsOverTime);
    for (const later of tops.slice(1)) expect(later, `step ${step}`).toEqual(tops[0]);
  }
  expect(await page.locator("article [data-streamdown=code-block]").count()).toBeGreaterThan(0);
});

/** Whether the conversation moves between two frames. */
const isScrolling = `(async () => {
  const list = document.querySelector("section[aria-label=Conversation]");
  const before = list.scrollTop;
  await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return list.scrollTop !== before;
})()`;

/** For a second, where the message of each turn is that was in view at its beginning. */
const topsOverTime = `(async () => {
  const { top, bottom } = document.querySelector("section[aria-label=Conversation]").getBoundingClientRect();
  const places = () => [...document.querySelectorAll("article")].map((article) => ({
    index: article.parentElement.dataset.index,
    place: article.getBoundingClientRect(),
  }));
  const inView = places().filter(({ place }) => place.bottom > top && place.top < bottom).map(({ index }) => index);
  const seen = [];
  for (let at = 0; at < 10; at++) {
    const found = places().filter(({ index }) => inView.includes(index));
    seen.push(Object.fromEntries(found.map(({ index, place }) => [index, Math.round(place.top)])));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return seen;
})()`;
