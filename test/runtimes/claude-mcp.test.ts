import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type IPty, spawn } from "@lydell/node-pty";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { useLink } from "../support/sign-in.ts";

// Claude Code itself as a client of `/mcp`, as its users set it up: with a key, and with a sign-in in the browser.

let service: ScriptedService;
let program: string;
let home: string;

beforeAll(async () => {
  // Its document is on the web, where a test does not go: Claude Code registers.
  service = await ScriptedService.start({ clientDocuments: false });
  program = join(await guestPackages(), "@anthropic-ai/claude-agent-sdk-linux-x64/claude");
  home = await mkdtemp(join(tmpdir(), "berth-claude-"));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

const options = () => ({
  cwd: home,
  env: {
    ...process.env,
    HOME: home,
    CLAUDE_CONFIG_DIR: home,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    BROWSER: "true",
  },
});

async function claude(...given: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, ["mcp", ...given], options());
  return stdout + stderr;
}

test("Claude Code connects with a key", async () => {
  const { url, client } = { url: `${service.server.url}/mcp`, client: service.client };
  await claude("add", "--transport", "http", "berth", url, "--header", `Authorization: Bearer ${client.key}`);
  expect(await claude("list")).toMatch(/berth: .*Connected/);
  expect(await claude("get", "berth")).toContain("Connected");
  await claude("remove", "berth");
});

test("Claude Code connects with a sign-in in the browser", async () => {
  const browser = new Browser();
  await useLink(service.server.firstSignIn!, "correct horse battery staple", "olga", browser);
  await claude("add", "--transport", "http", "berth", `${service.server.url}/mcp`);
  expect(await claude("list")).toMatch(/berth: .*[Nn]eeds authentication/);
  const login = spawn(program, ["mcp", "login", "--no-browser", "berth"], { ...options(), cols: 5_000, rows: 50 });
  const ended = new Promise<number>((resolve) => login.onExit(({ exitCode }) => resolve(exitCode)));
  try {
    const page = await browser.get(await addressIn(login));
    expect(page.text).toContain("Claude Code");
    login.write(`${(await browser.submit(page, { decision: "allow" })).url}\r`);
    expect(await ended).toBe(0);
    expect(await claude("list")).toMatch(/berth: .*Connected/);
  } finally {
    login.kill();
  }
});

/** The address of the sign-in page in what the program shows. */
function addressIn(terminal: IPty): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let all = "";
  terminal.onData((data) => {
    all += data;
    const found = /http:\/\/[!-~]+\/oidc\/auth\?[!-~]+(?=[^!-~])/.exec(all);
    if (found) resolve(found[0]);
  });
  terminal.onExit(() => reject(new Error(`no address in: ${all}`)));
  return promise;
}
