import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { LastEvent, TurnEvent } from "../src/contract/chat.ts";
import { allAbilities, type Prompt, type Runtime, type Session } from "../src/runtimes/runtime.ts";
import type { TestClient } from "../test/support/client.ts";
import { Dashboard, viewsOf } from "../test/support/dashboard.ts";

// `make screenshots`: writes a picture of each view of the dashboard to `build/screenshots`, of a service with made-up agents
// and of an empty one (docs/internals/dashboard-checklist.md). `node scripts/screenshots.ts NAME` takes those views alone
// whose names contain NAME.

const folder = join(import.meta.dirname, "../build/screenshots");
const only = process.argv[2] ?? "";

const desktop = { viewport: { width: 1280, height: 800 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const looks = {
  desktop,
  phone,
  "desktop-dark": { ...desktop, colorScheme: "dark" },
  "phone-dark": { ...phone, colorScheme: "dark" },
  wide: { viewport: { width: 1920, height: 1080 } },
} as const;

const answer = `The parser failed on an empty list, because \`items[0]\` was read before its length. I changed that and added a
test.

\`\`\`ts
export function first<Item>(items: readonly Item[]): Item | null {
  return items.length === 0 ? null : items[0]!;
}
\`\`\`

| Suite | Before | After |
|---|---|---|
| unit | 41 of 42 | **43 of 43** |
| end to end | 12 of 12 | 12 of 12 |

1. The fix is in \`src/first.ts\`.
2. The test is in \`src/first.test.ts\`.

> Nothing else calls it with an empty list.

$$
\\frac{1}{n} \\sum_{i=1}^{n} x_i
$$

שלום עולם, וזה משפט ארוך יותר.

日本語の文章もあります。
`;

/** A runtime whose turns look like an agent's work. */
function showRuntime(name: string): Runtime {
  return {
    name,
    description: "A coding agent.",
    package: "openclaw",
    abilities:
      name === "claude-code"
        ? allAbilities
        : { ...allAbilities, reasoning: { supported: false, reason: "It does not tell." } },
    memoryMiB: 1536,
    wires: ["messages", "chat"],
    defaultModels: ["anthropic/claude-sonnet", "openai/"],
    warmUp: [],
    start: async () => new ShowSession(),
  };
}

class ShowSession implements Session {
  readonly id = "show";
  readonly #end = Promise.withResolvers<void>();
  readonly ended = this.#end.promise;

  async prompt({ message }: Prompt, emit: (event: TurnEvent) => void, signal: AbortSignal): Promise<LastEvent> {
    if (message.startsWith("Deploy")) {
      const error = {
        code: "model_overloaded",
        message: "The model provider is overloaded. Try again later.",
      } as const;
      return { type: "response.failed", error };
    }
    emit({
      type: "response.reasoning_text.delta",
      delta: "The failing test names the parser, so that is where I look.",
    });
    const tool = (id: string, title: string, input: unknown, output: unknown) => {
      emit({ type: "response.tool_call.started", id, name: "Bash", title, input });
      emit({ type: "response.tool_call.completed", id, output });
    };
    tool("1", "npm test", { command: "npm test" }, "1 failed, 41 passed\n  first() of an empty list");
    tool("2", "Edit src/first.ts", { old_string: "return items[0];", new_string: "return items[0] ?? null;" }, "done");
    emit({
      type: "response.output_text.delta",
      delta: message.startsWith("Summarise") ? "Three issues are open." : answer,
    });
    if (message.startsWith("What is the weather")) {
      emit({ type: "response.function_call", callId: "call_1", name: "weather", arguments: '{"city":"Oslo"}' });
    }
    if (/^Watch|^What is the weather/.test(message))
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return signal.aborted ? { type: "response.cancelled" } : { type: "response.completed" };
  }

  async steer(): Promise<boolean> {
    return false;
  }

  async enter(): Promise<void> {}

  stop(): void {
    this.#end.resolve();
  }
}

const mcpServers = {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
  github: { url: "https://api.githubcopilot.com/mcp/", headers: { Authorization: "Bearer ${GITHUB_TOKEN}" } },
  files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/agent"] },
};

async function seed(client: TestClient): Promise<void> {
  await client.createAgent("reviewer", { runtime: "claude-code", instructions: "You review changes." });
  await client.createAgent("night-watch", { runtime: "opencode" });
  await client.createAgent("deployer", { runtime: "openclaw" });
  await client.createAgent("archive", { runtime: "claude-code" });
  await client.createAgent("an-agent-with-the-longest-name", { runtime: "claude-code" });
  await client.chat("reviewer", "Summarise the open issues.");
  await client.chat("reviewer", "Why does the test of the parser fail? Please fix it.");
  await client.chat("deployer", "Deploy the new version to staging.");
  const watching = await client.fetch("POST", "/agents/night-watch/chat", {
    message: "Watch the build until it is green.",
  });
  void watching.body?.cancel();
  await client.createAgent("asked");
  const asking = await client.fetch("POST", "/agents/asked/chat", { message: "What is the weather in Oslo?" });
  void asking.body?.cancel();
  await client.call("POST", "/agents/archive/suspend");
  const soon = new Date(Date.now() + 5 * 86_400_000).toISOString();
  await client.call("POST", "/keys", { name: "Schlüssel für die fortlaufende Integration in 東京", expiresAt: soon });
  await client.call("POST", "/keys", { name: "bot", kind: "agent", agents: ["reviewer"], creditLimit: "50" });
  await client.call("POST", "/admin/users", { name: "Bob" });
  await client.call("PUT", "/agents/reviewer/secrets/GITHUB_TOKEN", { value: "secret", hosts: ["api.github.com"] });
  await client.call("PATCH", "/agents/reviewer", { mcpServers });
  await client.call("PUT", "/agents/reviewer/network", { allow: ["*.github.com", "registry.npmjs.org"], deny: [] });
  const bytes = { "content-type": "application/octet-stream" };
  for (const path of ["README.md", "src/first.ts", "src/first.test.ts"]) {
    await client.fetch("PUT", `/agents/reviewer/files/${path}`, "A file.\n", bytes);
  }
}

/** The views, and those without an address of their own: one turn, the palette, a folded form, a dialog. */
async function take(page: Page, look: string, agent: string): Promise<void> {
  await mkdir(join(folder, look), { recursive: true });
  const shoot = async (view: string) => {
    await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
    await page.screenshot({ path: join(folder, look, `${view}.png`) });
  };
  for (const path of viewsOf(agent)) {
    const view = path.slice("/-/".length).replaceAll(/[^a-z0-9]+/g, "-") || "home";
    if (!view.includes(only)) continue;
    await page.goto(dashboard.url + path);
    await page.getByRole("heading").first().waitFor();
    await shoot(view);
  }
  if (agent === "none" || only !== "") return;
  await page.goto(`${dashboard.url}/-/agents/${agent}/turns`);
  await page.getByRole("link", { name: /^Why does/ }).click();
  await page.locator(".prose").first().waitFor();
  await shoot("turn");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").waitFor();
  await shoot("palette");
  await page.goto(`${dashboard.url}/-/agents/${agent}/settings`);
  await page.getByRole("button", { name: "Edit github" }).click();
  await page.getByRole("dialog").getByLabel("Headers").waitFor();
  await shoot("dialog");
  await page.goto(`${dashboard.url}/-/agents/asked`);
  await page.getByText("waiting for its result").click();
  await shoot("function");
}

await rm(folder, { recursive: true, force: true });
const dashboard = await Dashboard.start({}, { runtimes: ["claude-code", "opencode", "openclaw"].map(showRuntime) });
const empty = await dashboard.signedIn(desktop);
await take(empty.page, "empty", "none");
await empty.context.close();
await seed(dashboard.service.client);
for (const [look, options] of Object.entries(looks)) {
  const { context, page } = await dashboard.signedIn(options);
  await take(page, look, "reviewer");
  await context.close();
}
await dashboard[Symbol.asyncDispose]();
console.log(`The pictures are in ${folder}.`);
// The shells of terminals end with this process.
process.exit();
