import { readdir, readFile, stat } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Page } from "playwright-core";
import { noUsage } from "../src/billing/usage.ts";
import type { LastEvent, TurnEvent } from "../src/contract/chat.ts";
import { allAbilities, type Prompt, type Runtime, type Session } from "../src/runtimes/runtime.ts";
import { databaseOf } from "../test/support/accounts.ts";
import { Dashboard } from "../test/support/dashboard.ts";

// `node bench/dashboard.ts`: how much the dashboard loads at first, how smooth a long answer is while words arrive, compared
// with an empty page of the same browser in the same run, and how fast a conversation of many turns is. Build the dashboard
// first.

const dist = new URL("../dashboard/dist/", import.meta.url);
/** The words before the measurement unless a message names another number, and how fast more come during it. */
const wordsBefore = 20_000;
/** Words of a reply of two megabytes. */
const hugeReply = 300_000;
const wordsPerSecond = 50;
const measuredMs = 8_000;
/** The earlier messages of the long conversation. */
const pastTurns = 10_000;

const paragraph = `${"Words of an agent that explains itself at length. ".repeat(12)}\n\n`;
const code =
  "```ts\nexport function first<Item>(items: readonly Item[]): Item | null {\n  return items[0] ?? null;\n}\n```\n\n";

/** A runtime that talks without end: `wordsBefore` at once, then word by word until it is interrupted. */
const talkative: Runtime = {
  name: "claude-code",
  description: "Answers at once.",
  package: "openclaw",
  abilities: allAbilities,
  memoryMiB: 1536,
  wires: ["messages"],
  defaultModels: null,
  warmUp: [],
  start: async () => new TalkativeSession(),
};

class TalkativeSession implements Session {
  readonly id = "talkative";
  readonly #end = Promise.withResolvers<void>();
  readonly ended = this.#end.promise;

  async prompt({ message }: Prompt, emit: (event: TurnEvent) => void, signal: AbortSignal): Promise<LastEvent> {
    const say = (delta: string) => emit({ type: "response.output_text.delta", delta });
    const before = Number(/\d+/.exec(message)?.[0] ?? wordsBefore);
    const perRound = paragraph.split(" ").length + code.split(" ").length;
    for (let words = 0; words < before; words += perRound) say(paragraph + code);
    for (let at = 0; !signal.aborted; at++) {
      say(at % 40 === 39 ? "word.\n\n" : "word ");
      await sleep(1000 / wordsPerSecond);
    }
    return { type: "response.cancelled" };
  }

  async steer(): Promise<boolean> {
    return false;
  }

  async enter(): Promise<void> {}

  stop(): void {
    this.#end.resolve();
  }
}

console.log(`2 × ${cpus()[0]!.model}, load ${loadavg()[0]!.toFixed(1)}`);
await printSizes();
await using dashboard = await Dashboard.start({}, { runtimes: [talkative] });
await dashboard.service.client.createAgent("ada");
const { context, page } = await dashboard.signedIn({ viewport: { width: 1280, height: 800 } });
await printFirstLoad();
await printFrames();
await printMainThread();
await printManyTurns();
await printSlowLine();

/** Of compressed script: what the first view needs, and what a conversation adds. */
async function printSizes(): Promise<void> {
  const names = (await readdir(new URL("assets/", dist))).filter((name) => name.endsWith(".js.br"));
  const sizes = await Promise.all(
    names.map(async (name) => [name, (await stat(new URL(`assets/${name}`, dist))).size] as const),
  );
  const document = await readFile(new URL("index.html", dist), "utf8");
  const first = sizes.filter(([name]) => document.includes(name.replace(/\.br$/, "")));
  const sum = (of: typeof sizes) => (of.reduce((total, [, size]) => total + size, 0) / 1000).toFixed(0);
  console.log(
    `compressed script of the document: ${sum(first)} kB (goal 200); of all views and languages: ${sum(sizes)} kB`,
  );
}

async function printFirstLoad(): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const fresh = await context.newPage();
    const begun = performance.now();
    await fresh.goto(`${dashboard.url}/-/`);
    await fresh.getByRole("heading", { level: 1, name: "Needs attention" }).waitFor();
    times.push(performance.now() - begun);
    await fresh.close();
  }
  console.log(
    `to the first view, signed in (ms): p50 ${median(times).toFixed(0)}, least ${Math.min(...times).toFixed(0)}`,
  );
}

async function printFrames(): Promise<void> {
  const empty = await context.newPage();
  await empty.goto("about:blank");
  const floor = await framesOf(empty);
  await empty.close();
  await page.goto(`${dashboard.url}/-/agents/ada`);
  await page.getByLabel("Message to ada").fill("talk");
  await page.keyboard.press("Enter");
  await page.getByText("word word word").last().waitFor({ timeout: 60_000 });
  await sleep(3_000);
  const long = await framesOf(page);
  await page.keyboard.press("Escape");
  console.log(
    `frames a second, ${wordsPerSecond} words a second in a turn of ${wordsBefore}: ${long.perSecond.toFixed(1)}`,
  );
  console.log(`  an empty page: ${floor.perSecond.toFixed(1)}; ratio ${(long.perSecond / floor.perSecond).toFixed(2)}`);
  console.log(
    `  between two frames (ms): p50 ${long.p50.toFixed(1)}, p99 ${long.p99.toFixed(1)}, most ${long.most.toFixed(0)}`,
  );
}

/** The time that a word takes of the page's main thread, in a short reply and in one of two megabytes. */
async function printMainThread(): Promise<void> {
  const devTools = await context.newCDPSession(page);
  await devTools.send("Performance.enable");
  const busySeconds = async () => {
    const { metrics } = await devTools.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")!.value;
  };
  const perWord: number[] = [];
  for (const words of [10, hugeReply]) {
    const name = `talker-${words}`;
    await dashboard.service.client.createAgent(name);
    await page.goto(`${dashboard.url}/-/agents/${name}`);
    await page.getByLabel(`Message to ${name}`).fill(`talk ${words}`);
    await page.keyboard.press("Enter");
    await page.getByText("word word word").last().waitFor();
    await sleep(5_000);
    const before = await busySeconds();
    await sleep(measuredMs);
    perWord.push(((await busySeconds()) - before) / (wordsPerSecond * (measuredMs / 1000)));
    const elements = await page.evaluate("document.querySelectorAll('*').length");
    await page.keyboard.press("Escape");
    console.log(
      `main thread for a word after ${words}: ${(perWord.at(-1)! * 1000).toFixed(1)} ms, elements: ${elements}`,
    );
  }
  console.log(`  ratio ${(perWord[1]! / perWord[0]!).toFixed(2)} (goal 2)`);
  await devTools.detach();
}

/** A conversation of many turns: until it can be read, while it is scrolled, and how much of it is in the page. */
async function printManyTurns(): Promise<void> {
  await dashboard.service.client.createAgent("old");
  await tellTurns("old");
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const begun = performance.now();
    await page.goto(`${dashboard.url}/-/agents/old`);
    await page.getByRole("article", { name: `Turn: question ${pastTurns}` }).waitFor();
    times.push(performance.now() - begun);
  }
  await page.getByRole("region", { name: "Conversation" }).hover();
  const scrolling = setInterval(() => void page.mouse.wheel(0, -1_500).catch(() => {}), 100);
  const frames = await framesOf(page);
  clearInterval(scrolling);
  const oldest = await page.getByRole("article").first().getAttribute("aria-label");
  console.log(`a conversation of ${pastTurns} turns, to its newest (ms): p50 ${median(times).toFixed(0)}`);
  console.log(
    `  frames a second while it is scrolled up: ${frames.perSecond.toFixed(1)}, p99 ${frames.p99.toFixed(1)} ms`,
  );
  console.log(`  turns in the page: ${await page.getByRole("article").count()}, up to ${oldest}`);
}

/** The last conversation on a line of 480 kbit/s with 150 ms of latency: until it can be read, and until it can be used. */
async function printSlowLine(): Promise<void> {
  await page.goto("about:blank");
  for (const isCached of [false, true]) {
    const fresh = await context.newPage();
    const devTools = await context.newCDPSession(fresh);
    await devTools.send("Network.enable");
    if (!isCached) await devTools.send("Network.clearBrowserCache");
    const line = { offline: false, latency: 150, downloadThroughput: 60_000, uploadThroughput: 60_000 };
    await devTools.send("Network.emulateNetworkConditions", line);
    const begun = performance.now();
    const passed = () => (performance.now() - begun).toFixed(0);
    await fresh.goto(`${dashboard.url}/-/agents/old`, { waitUntil: "commit" });
    await fresh.getByText(`question ${pastTurns}`).first().waitFor();
    const read = passed();
    await fresh.getByRole("article", { name: `Turn: question ${pastTurns}` }).waitFor();
    console.log(
      `at 480 kbit/s and 150 ms, ${isCached ? "with" : "without"} cached scripts (ms): to read ${read}, to use ${passed()}`,
    );
    await fresh.close();
  }
}

/** Stores turns that have ended, as if they had been. */
async function tellTurns(name: string): Promise<void> {
  const database = await databaseOf(dashboard.service);
  await sql`
    with agent as (select id from agents where name = ${name}), sent as (
      insert into turns (id, agent_id, conversation, message, status, usage, created_at, finished_at)
      select gen_random_uuid(), agent.id, 1, 'question ' || n, 'completed', ${JSON.stringify(noUsage)}::jsonb,
        now() - make_interval(secs => 60 * (${pastTurns} - n)), now() - make_interval(secs => 60 * (${pastTurns} - n) - 30)
      from agent, generate_series(1, ${pastTurns}) n returning id, message)
    insert into turn_events (turn_id, seq, event)
    select sent.id, seq, case seq
      when 1 then jsonb_build_object('type', 'response.created')
      when 2 then jsonb_build_object('type', 'response.output_text.delta', 'delta', 'The answer to ' || message || E'.\n\n' || ${paragraph}::text || ${code}::text)
      else jsonb_build_object('type', 'response.completed') end
    from sent, generate_series(1, 3) seq`.execute(database);
  await database.destroy();
}

async function framesOf(of: Page): Promise<{ perSecond: number; p50: number; p99: number; most: number }> {
  const gaps: number[] = await of.evaluate(`(async () => {
    const seen = [];
    const end = performance.now() + ${measuredMs};
    for (let last = performance.now(); last < end; ) {
      const now = await new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
      seen.push(now - last);
      last = now;
    }
    return seen;
  })()`);
  const sorted = gaps.toSorted((one, other) => one - other);
  const at = (part: number) => sorted[Math.floor(sorted.length * part)]!;
  return { perSecond: (gaps.length / measuredMs) * 1000, p50: at(0.5), p99: at(0.99), most: sorted.at(-1)! };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;
}
