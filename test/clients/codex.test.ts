import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installedClient } from "../support/installed-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { seedFolder } from "../support/warm-seed.ts";

// OpenAI's codex, unmodified from npm, with an agent as its model.

let folder: string;
let service: ScriptedService;
let home: string;

beforeAll(async () => {
  folder = await installedClient("codex", ["@openai/codex@0.171.0"]);
  service = await ScriptedService.start();
  home = await mkdtemp(join(seedFolder, "codex-home-"));
  const { url } = service.client;
  await writeFile(
    join(home, "config.toml"),
    `model_provider = "berth"
web_search = "disabled"

[agents]
enabled = false

[model_providers.berth]
name = "Berth"
base_url = "${url}/v1"
env_key = "BERTH_KEY"
wire_api = "responses"
`,
  );
}, 300_000);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

/** The output of codex for a message; it does not complain about the configuration. Its commands run without its own sandbox, which needs the host's permission. */
async function codex(agent: string, message: string, more: string[] = []): Promise<string> {
  const flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-C", home, "-m", agent];
  const child = spawn(join(folder, "node_modules/.bin/codex"), ["exec", ...flags, ...more, message], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, CODEX_HOME: home, BERTH_KEY: service.client.key },
  });
  const [said, errors] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  expect(errors).not.toContain("deprecated");
  expect(errors).not.toContain("Falling back from WebSockets");
  return said || errors;
}

test("codex talks to an agent, which runs commands on codex's side", { timeout: 180_000 }, async () => {
  await service.client.createAgent("ada");
  expect(await codex("ada", "count 3")).toContain("1 2 3");
  expect(await codex("ada", 'call exec_command {"cmd":"echo on the side of codex"}')).toContain("on the side of codex");
  // A resumed session sends its history, which is that of a conversation.
  expect(await codex("ada", "recall", ["resume", "--last"])).toMatch(/call exec_command.*\nrecall/);
  expect(await codex("nobody", "x")).toContain("There is no agent nobody.");
});

test("codex uses a WebSocket, with functions", { timeout: 180_000 }, async () => {
  await service.client.createAgent("bob");
  const config = join(home, "config.toml");
  await writeFile(config, `${await readFile(config, "utf8")}supports_websockets = true\n`);
  expect(await codex("bob", "count 3")).toContain("1 2 3");
  expect(await codex("bob", 'call exec_command {"cmd":"echo by a socket"}')).toContain("by a socket");
});
