import { type ChildProcess, spawn } from "node:child_process";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { InboxStore } from "../../src/inbox/store.ts";
import { databaseOf } from "../support/accounts.ts";
import { Browser } from "../support/browser.ts";
import { newFolder } from "../support/config.ts";
import { ended } from "../support/scripted-api.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { useLink } from "../support/sign-in.ts";

// The tool's sign-in and its users' commands, against a whole server with its own identity provider.

const launcher = fileURLToPath(new URL("../../berth", import.meta.url));
const password = "correct horse battery staple";
let service: ScriptedService;
let folder: string;
let file: string;

beforeAll(async () => {
  folder = await newFolder();
  file = join(folder, "berth", "credentials.json");
  service = await ScriptedService.start();
  await useLink(service.server.firstSignIn!, password, "ulla");
});
beforeEach(() => rm(join(folder, "berth"), { recursive: true, force: true }));
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function start(args: string[], environment: Record<string, string> = {}): ChildProcess {
  const own = { BERTH_URL: service.server.url, BERTH_DATA_DIR: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(launcher, args, { env: { PATH: process.env.PATH, ...own, ...environment } });
  child.stdin.end();
  return child;
}

const berth = (args: string[], environment: Record<string, string> = {}) => ended(start(args, environment));
const asOperator = (args: string[]) => berth(args, { BERTH_API_KEY: service.client.key });

/** The tool's output before the user has opened the address. */
async function promptOf(child: ChildProcess): Promise<{ page: string; code: string }> {
  let shown = "";
  for await (const bytes of child.stderr!.iterator({ destroyOnReturn: false })) {
    shown += String(bytes);
    const [, page, code] = /(http\S+)[\s\S]*?([A-Z]{4}-[A-Z]{4})/.exec(shown) ?? [];
    if (page && code) return { page, code };
  }
  throw new Error(`nothing to confirm: ${shown}`);
}

async function logIn(name = "ulla", args: string[] = []) {
  const child = start(["login", ...args]);
  const { page, code } = await promptOf(child);
  const outcome = ended(child);
  const browser = new Browser();
  const confirm = await browser.submit(await browser.get(page), { user_code: code });
  expect(confirm.text).toContain("The command line tool");
  const signIn = await browser.submit(confirm, {});
  expect((await browser.submit(signIn, { name, password })).text).toContain("signed in");
  return outcome;
}

async function stored() {
  return Object.values(JSON.parse(await readFile(file, "utf8")).logins)[0] as Record<string, string>;
}

async function change(fields: Record<string, unknown>): Promise<void> {
  const all = JSON.parse(await readFile(file, "utf8"));
  for (const url of Object.keys(all.logins)) Object.assign(all.logins[url], fields);
  await writeFile(file, JSON.stringify(all));
}

test("login stores what it got for its user alone, and every command uses it", async () => {
  expect(await berth(["whoami"])).toMatchObject({ code: 1, stderr: expect.stringContaining("BERTH_API_KEY") });
  const { code, stdout } = await logIn();
  expect({ code, stdout }).toEqual({ code: 0, stdout: `You are signed in to ${service.server.url} as operator.\n` });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, "berth"))).mode & 0o777).toBe(0o700);
  const whoami = await berth(["whoami", "--json"]);
  expect(JSON.parse(whoami.stdout)).toMatchObject({ operator: true, credential: "token" });
  expect((await berth(["whoami"])).stdout).toMatch(/^by +a login$/m);
  expect((await berth(["agents", "list"])).code).toBe(0);
  // A key comes before it.
  expect((await berth(["whoami"], { BERTH_API_KEY: service.client.key })).stdout).toMatch(/^by +a key$/m);
  // And it is for its own server alone.
  const elsewhere = service.server.url.replace("127.0.0.1", "localhost");
  expect((await berth(["whoami"], { BERTH_URL: elsewhere })).code).toBe(1);
});

test("a reply that was watched to its end is not in the person's inbox", async () => {
  await logIn();
  await service.client.createAgent("ada");
  expect(await berth(["chat", "ada", "hello"])).toMatchObject({ code: 0 });
  expect(await berth(["chat", "ada", "crash"])).toMatchObject({ code: 1 });
  await using database = await databaseOf(service);
  await new InboxStore(database).collect();
  expect(JSON.parse((await berth(["inbox", "--json"])).stdout)).toMatchObject({
    data: [{ type: "turn.failed", read: true }],
  });
});

test("a token that has ended is renewed, by one of many at once", async () => {
  await logIn();
  const { refreshToken } = await stored();
  await change({ expiresAt: new Date(0).toISOString() });
  const runs = await Promise.all(Array.from({ length: 3 }, () => berth(["whoami"])));
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect((await stored()).refreshToken).not.toBe(refreshToken);
  await change({ expiresAt: new Date(0).toISOString() });
  expect((await berth(["whoami"])).code).toBe(0);
});

test("a login that has ended asks to sign in again", async () => {
  await logIn();
  await change({ accessToken: "eyJh.e30.AAAA" });
  const again = /Sign in again: berth login/;
  expect(await berth(["whoami"])).toMatchObject({ code: 1, stderr: expect.stringMatching(again) });
  await change({ refreshToken: "unknown", expiresAt: new Date(0).toISOString() });
  expect(await berth(["whoami"])).toMatchObject({ code: 1, stderr: expect.stringMatching(again) });
  await change({ refreshToken: null });
  expect(await berth(["whoami"])).toMatchObject({ code: 1, stderr: expect.stringMatching(again) });
  await writeFile(file, "{}");
  expect(await berth(["whoami"])).toMatchObject({ code: 1, stderr: expect.stringContaining("is damaged") });
});

test("logout ends the login here and at the provider", async () => {
  await logIn("ulla", ["--json"]);
  const before = await stored();
  expect(await berth(["logout"])).toMatchObject({ code: 0, stdout: expect.stringContaining("signed out") });
  expect(JSON.parse(await readFile(file, "utf8")).logins).toEqual({});
  await writeFile(file, JSON.stringify({ logins: { [service.server.url]: { ...before, expiresAt: new Date(0) } } }));
  expect((await berth(["whoami"])).stderr).toContain("Your login has expired.");
  await rm(file);
  expect(await berth(["logout"])).toMatchObject({ code: 0, stdout: expect.stringContaining("were not signed in") });
});

test("a sign-in that is refused stores nothing", async () => {
  const child = start(["login"]);
  const { page, code } = await promptOf(child);
  const outcome = ended(child);
  const browser = new Browser();
  const confirm = await browser.submit(await browser.get(page), { user_code: code });
  await browser.submit(confirm, { abort: "yes" });
  expect(await outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("The sign-in was refused.") });
  await expect(stat(file)).rejects.toThrow("ENOENT");
});

test("login tells when there is nowhere to sign in", async () => {
  const nobody = await berth(["login"], { BERTH_URL: "http://127.0.0.1:9" });
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining("No answer from http://127.0.0.1:9") });
  const oidc = { issuer: "http://127.0.0.1:9", audience: "berth", clientId: "berth", unknownKeyMs: 0 };
  await using other = await ScriptedService.start({ oidc });
  const away = await berth(["login"], { BERTH_URL: other.server.url });
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining("http://127.0.0.1:9 failed") });
});

test("the operator adds, lists, resets, disables and enables users", async () => {
  const added = await asOperator(["admin", "users", "add", "Bob"]);
  expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("Bob sets a password") });
  expect(added.stdout).toMatch(/^http:\S+\/oidc\/welcome\?token=[\w-]{43}\n$/);
  await useLink(added.stdout.trim(), password);
  const list = await asOperator(["admin", "users", "list"]);
  expect(list.stdout).toMatch(/^NAME +STATUS +OPERATOR +CREATED\nulla +active +yes +\S+\nBob +active +no +\S+\n$/);
  expect(await asOperator(["admin", "users", "disable", "bob"])).toMatchObject({ stdout: "Bob is disabled.\n" });
  expect(await asOperator(["admin", "users", "enable", "bob"])).toMatchObject({ stdout: "Bob is enabled again.\n" });
  const reset = await asOperator(["admin", "users", "reset", "bob", "--json"]);
  expect(JSON.parse(reset.stdout)).toMatchObject({ name: "Bob", status: "invited" });
  expect(JSON.parse((await asOperator(["admin", "users", "list", "--json"])).stdout).data).toHaveLength(2);
  const refused = await asOperator(["admin", "users", "disable", "ulla"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be disabled") });
  expect((await asOperator(["admin", "users", "reset", ".."])).code).toBe(2);
});
