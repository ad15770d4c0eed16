import { execFile, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Berth } from "@berth/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inside, PeoplesService } from "../support/people.ts";
import { ended } from "../support/scripted-api.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// OpenSSH's own programs against its own server, which runs as a process of the scripted machine: there, root is this
// machine's root, and nobody else can be logged in.

const launcher = fileURLToPath(new URL("../../berth", import.meta.url));
const isRoot = process.getuid!() === 0;

let service: ScriptedService;
let berth: Berth;
/** The home of the tool's user, with the SSH config. */
let home: string;
beforeAll(async () => {
  service = await ScriptedService.start();
  berth = new Berth({ url: service.client.url, key: service.client.key });
  await service.client.createAgent("ada");
  await service.client.createAgent("bea");
  home = await mkdtemp(join(tmpdir(), "berth-test-ssh-"));
  expect(await run(launcher, ["ssh-config"])).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

function environment(): NodeJS.ProcessEnv {
  const { url, key } = service.client;
  return { PATH: process.env.PATH, HOME: home, TZ: "UTC", BERTH_URL: url, BERTH_API_KEY: key };
}

function start(program: string, args: string[]) {
  return spawn(program, args, { env: environment(), cwd: home });
}

async function run(program: string, args: string[], input = "") {
  const child = start(program, args);
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return ended(child);
}

/** OpenSSH reads the home folder from the user database, not from HOME. */
const withConfig = () => ["-F", join(home, ".ssh/berth_config")];

test("the config is written once, and included at the top of what was there", async () => {
  const config = join(home, ".ssh/config");
  await writeFile(config, "Host other\n  User me\n");
  await run(launcher, ["ssh-config"]);
  await run(launcher, ["ssh-config"]);
  expect(await readFile(config, "utf8")).toBe("Include berth_config\nHost other\n  User me\n");
  const printed = await run(launcher, ["ssh-config", "--print"]);
  expect(printed.stdout).toBe(await readFile(join(home, ".ssh/berth_config"), "utf8"));
});

test("a name is never a shell's to read, and a machine gets neither the user's agent nor their display", async () => {
  const config = join(home, "ssh_config");
  const own = await readFile(join(home, ".ssh/berth_config"), "utf8");
  await writeFile(config, `${own}Host *\n  ForwardAgent yes\n  ForwardX11 yes\n  ForwardX11Trusted yes\n`);
  const read = await run("ssh", ["-G", "-F", config, "ada.berth"]);
  expect(read.stdout).toMatch(/^forwardagent no$/m);
  expect(read.stdout).toMatch(/^forwardx11 no$/m);
  expect(read.stdout).toMatch(/^forwardx11trusted no$/m);
  // Only for the users that there are is anything run, and what is run has their name in quotes.
  for (const user of ["$(touch pwned)", "`touch pwned`", "x;touch pwned", "$[1+1]"]) {
    await run("ssh", ["-G", "-F", config, "-l", user, "ada.berth"]);
  }
  await expect(readFile(join(home, "pwned"))).rejects.toThrow("ENOENT");
  expect(own).toMatch(/^Match host \*\.berth user agent,root exec ".* ssh-prepare '%n' --user '%r'"$/m);
  expect(own).toMatch(/^ {2}ProxyCommand .* ssh-proxy '%n'$/m);
});

test.runIf(isRoot)("first connections at the same moment share one key", { timeout: 120_000 }, async () => {
  await rm(join(home, ".config/berth/ssh"), { recursive: true, force: true });
  const connections = Array.from({ length: 4 }, () => run("ssh", [...withConfig(), "root@ada.berth", "echo hello"]));
  for (const outcome of await Promise.all(connections)) expect(outcome).toMatchObject({ code: 0, stdout: "hello\n" });
});

test.runIf(isRoot)("berth ssh runs a command with its streams and its exit code", { timeout: 60_000 }, async () => {
  const outcome = await run(launcher, ["ssh", "-u", "root", "ada", "--", "tr a-z A-Z; echo bad >&2; exit 7"], "hello");
  expect(outcome).toMatchObject({ code: 7, stdout: "HELLO", stderr: expect.stringContaining("bad") });
});

test.runIf(isRoot)("ssh, scp, sftp, rsync and git reach an agent by its name", { timeout: 120_000 }, async () => {
  const there = await mkdtemp(join(tmpdir(), "berth-test-there-"));
  const ssh = `ssh ${withConfig().join(" ")}`;
  const sent = randomBytes(5_000_000);
  const sha256 = createHash("sha256").update(sent).digest("hex");
  await writeFile(join(home, "sent"), sent);

  const sum = await run("scp", [...withConfig(), "sent", `root@ada.berth:${there}/scp`]);
  expect(sum).toMatchObject({ code: 0 });
  const told = await run("ssh", [...withConfig(), "root@ada.berth", `sha256sum < ${there}/scp; echo $HTTPS_PROXY`]);
  expect(told.stdout).toMatch(new RegExp(`^${sha256}  -\nhttp://127`));
  const batch = `put sent ${there}/sftp\nget ${there}/sftp fetched\n`;
  expect(await run("sftp", [...withConfig(), "-b", "-", "root@ada.berth"], batch)).toMatchObject({ code: 0 });
  expect((await readFile(join(home, "fetched"))).equals(sent)).toBe(true);
  expect(await run("rsync", ["-e", ssh, "-a", "sent", `root@ada.berth:${there}/rsync`])).toMatchObject({ code: 0 });
  expect((await readFile(join(there, "rsync"))).equals(sent)).toBe(true);

  await run("git", ["init", "-q", join(there, "repository")]);
  const made = ["-C", join(there, "repository"), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q"];
  await run("git", [...made, "--allow-empty", "-m", "first"]);
  const clone = ["-c", `core.sshCommand=${ssh}`, "clone", "-q", `root@ada.berth:${there}/repository`, "cloned"];
  expect(await run("git", clone)).toMatchObject({ code: 0 });
  expect((await run("git", ["-C", "cloned", "log", "--format=%s"])).stdout).toBe("first\n");
  await rm(there, { recursive: true });
});

test.runIf(isRoot)("a port is forwarded, as ssh does it", { timeout: 60_000 }, async () => {
  const web = createServer((_, response) => response.end("a page")).listen(0, "127.0.0.1");
  await once(web, "listening");
  const free = createTcpServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address() as AddressInfo;
  free.close();
  const forward = `${port}:127.0.0.1:${(web.address() as AddressInfo).port}`;
  const child = start("ssh", [...withConfig(), "-N", "-L", forward, "root@ada.berth"]);
  const read = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      (response) => response.text(),
      () => "",
    );
  await expect.poll(read).toBe("a page");
  child.kill();
  await once(child, "exit");
  web.close().closeAllConnections();
});

test.runIf(isRoot)("a machine with another key than its own is refused", { timeout: 60_000 }, async () => {
  await run(launcher, ["ssh-prepare", "ada.berth", "--user", "root"]);
  const [folder] = await foldersOf();
  const other = await berth.agent("bea").ssh.certify(await readFile(join(folder!, "key.pub"), "utf8"));
  await writeFile(join(folder!, "known_hosts/wrong"), `ada.berth ${other.hostKey}\n`);
  const options = ["-o", `UserKnownHostsFile=${folder}/known_hosts/wrong`];
  const refused = await run("ssh", [...options, ...withConfig(), "root@ada.berth", "true"]);
  expect([refused.code, refused.stderr]).toEqual([255, expect.stringContaining("IDENTIFICATION HAS CHANGED")]);
});

test.runIf(isRoot)("a certificate is for one agent, one user and a few minutes", { timeout: 60_000 }, async () => {
  const [folder] = await foldersOf();
  const key = await readFile(join(folder!, "key.pub"), "utf8");
  const hostKey = (await berth.agent("ada").ssh.certify(key)).hostKey;
  const known = join(home, "known");
  await writeFile(known, `ada.berth ${hostKey}\n`);
  const attempt = async (certificate: string) => {
    const file = join(home, "attempt-cert.pub");
    await writeFile(file, `${certificate}\n`);
    const plain = await readFile(join(home, ".ssh/berth_config"), "utf8");
    const proxy = /^ {2}ProxyCommand .*$/m.exec(plain)![0].trim().replace("ProxyCommand ", "ProxyCommand=");
    const options = [`CertificateFile=${file}`, `IdentityFile=${folder}/key`, `UserKnownHostsFile=${known}`, proxy];
    const args = ["-F", "none", ...options.flatMap((each) => ["-o", each]), "-o", "IdentitiesOnly=yes"];
    return (await run("ssh", [...args, "-o", "BatchMode=yes", "root@ada.berth", "echo in"])).stdout;
  };
  expect(await attempt((await berth.agent("ada").ssh.certify(key, { user: "root" })).certificate)).toBe("in\n");
  expect(await attempt((await berth.agent("bea").ssh.certify(key, { user: "root" })).certificate)).toBe("");
  expect(await attempt((await berth.agent("ada").ssh.certify(key)).certificate)).toBe("");
  const { certificate, expiresAt } = await berth.agent("ada").ssh.certify(key, { user: "root" });
  expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(5 * 60_000);
  const file = join(home, "shown-cert.pub");
  await writeFile(file, certificate);
  const shown = (await run("ssh-keygen", ["-L", "-f", file])).stdout;
  expect(shown).toContain("Type: ssh-ed25519-cert-v01@openssh.com user certificate");
  const [, from, to] = /Valid: from (\S+) to (\S+)/.exec(shown)!;
  expect(Date.parse(to!) - Date.parse(from!)).toBe(6 * 60_000);
});

test("an invalid key and a missing agent are refused", async () => {
  for (const publicKey of ["ssh-rsa AAAA", "", `ssh-ed25519 ${"A".repeat(68)}`]) {
    const { status, body } = await service.client.call("POST", "/agents/ada/ssh", { publicKey });
    expect([publicKey, status, body.code]).toEqual([publicKey, 400, "request_invalid"]);
  }
  const outcome = await run(launcher, ["ssh", "nobody", "true"]);
  expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining("nobody")]);
});

test("without OpenSSH's client, the tool says so", async () => {
  const empty = await mkdtemp(join(tmpdir(), "berth-test-empty-"));
  const env = { ...environment(), PATH: empty, XDG_CONFIG_HOME: empty };
  const node = process.execPath;
  const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
  const outcome = await ended(spawn(node, [main, "ssh", "ada", "true"], { env }));
  expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining("openssh-client")]);
  await rm(empty, { recursive: true });
});

describe("in workspaces", () => {
  let people: PeoplesService;
  /** The proxies of the two machines, personal and ops. */
  let proxies: string[];
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    people = await PeoplesService.start();
    const { driver } = people.service;
    const ulla = await people.person();
    await people.newWorkspace(ulla, "ops");
    await ulla.createAgent("ada");
    await inside(ulla, "ops").createAgent("ada");
    proxies = driver.running.map((id) => driver.proxyOf(id));
    env = { ...environment(), HOME: join(home, "ulla"), BERTH_URL: ulla.url, BERTH_API_KEY: ulla.key };
  });
  afterAll(() => people[Symbol.asyncDispose]());

  const inWorkspace = (workspace: string, program: string, args: string[]) =>
    ended(spawn(program, args, { env: { ...env, BERTH_WORKSPACE: workspace } }));
  /** The proxy of the machine at a host. Empty if it cannot be reached. */
  const proxyAt = async (host: string, workspace = "") => {
    const config = ["-F", join(env.HOME!, ".ssh/berth_config"), "-o", "BatchMode=yes"];
    return (await inWorkspace(workspace, "ssh", [...config, `root@${host}`, "echo $HTTPS_PROXY"])).stdout.trim();
  };

  test.runIf(isRoot)("the config keeps its workspace, and a host names another", { timeout: 120_000 }, async () => {
    const [personal, ops] = proxies;
    expect(await inWorkspace("ops", launcher, ["ssh-config"])).toMatchObject({ code: 0 });
    expect(await proxyAt("ada.berth")).toBe(ops);
    expect(await proxyAt("ada.personal.berth")).toBe(personal);
    expect(await inWorkspace("", launcher, ["ssh-config"])).toMatchObject({ code: 0 });
    expect(await proxyAt("ada.berth", "ops")).toBe(personal);
    expect(await proxyAt("ada.OPS.berth")).toBe(ops);
    expect(await proxyAt("ada.strangers.berth")).toBe("");
  });

  test.runIf(isRoot)("berth ssh reaches the agent of the workspace", { timeout: 120_000 }, async () => {
    const args = ["ssh", "-u", "root", "ada", "--", "echo $HTTPS_PROXY"];
    const both = await Promise.all(["", "ops"].map((workspace) => inWorkspace(workspace, launcher, args)));
    expect(both.map(({ stdout }) => stdout.trim())).toEqual(proxies);
  });

  test("a host with slashes, and a workspace with quotes, are refused with the reason", async () => {
    const slashes = await inWorkspace("", launcher, ["ssh-prepare", "ada.../../x.berth"]);
    expect(slashes).toMatchObject({ code: 2, stderr: expect.stringContaining("no slashes") });
    const quotes = await inWorkspace("Ulla's", launcher, ["ssh-config", "--print"]);
    expect(quotes).toMatchObject({ code: 1, stderr: expect.stringContaining("by its id") });
  });
});

/** The tool's folders for ssh, one for each service. */
async function foldersOf(): Promise<string[]> {
  const { stdout } = await new Promise<{ stdout: string }>((resolve) =>
    execFile("find", [join(home, ".config/berth/ssh"), "-mindepth", "1", "-maxdepth", "1"], (_, stdout) =>
      resolve({ stdout }),
    ),
  );
  return stdout.trim().split("\n");
}
