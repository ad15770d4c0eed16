import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EgressLogEntry } from "../../src/contract/egress.ts";
import { certify, makeAuthority, makeKeys } from "../../src/egress/authority.ts";
import { newFolder, testConfig } from "../support/config.ts";
import { VmService } from "../support/vm-service.ts";
import { makeSeed, plantSeed } from "../support/warm-seed.ts";

// The web from a real machine, with programs that are not configured for it. The internet is replaced by a server of this
// host that the operator has opened, and by the npm registry that this host uses.

const run = promisify(execFile);
/** Not 127.0.0.1, which programs in the guest never ask the proxy for. */
const address = "127.0.0.2";

let service: VmService;
let id: string;
let web: Server;
let host: string;
let folder: string;
/** Of the host that may have a secret, which is there later. */
let securePort: number;
/** Addresses that have sent a request, by path. */
const agents = new Map<string, string>();
const large = randomBytes(20_000_000);

beforeAll(async () => {
  folder = await newFolder();
  await makeRepository(folder);
  web = createServer((request, response) => void serve(request, response)).listen(0, address);
  await once(web, "listening");
  host = `${address}:${(web.address() as AddressInfo).port}`;
  const { stdout } = await run("npm", ["config", "get", "registry"]);
  const registry = new URL(stdout.trim());
  await makeSeed("claude-code");
  securePort = await portFor();
  const port = registry.port || (registry.protocol === "https:" ? "443" : "80");
  const config = await testConfig({ egressInside: [host, `${address}:${securePort}`, `${registry.hostname}:${port}`] });
  await plantSeed(config.dataFolder, { only: "claude-code" });
  service = await VmService.on(config);
  await service.client.createAgent("ada");
  id = await service.machineId("ada");
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  web.close().closeAllConnections();
  await rm(folder, { recursive: true });
});

/** A repository as a plain web server can serve it. */
async function makeRepository(parent: string): Promise<void> {
  const repository = join(parent, "repository");
  await mkdir(repository);
  await writeFile(join(repository, "file"), "from the web\n");
  const git = (...args: string[]) =>
    run("git", ["-C", repository, "-c", "user.name=x", "-c", "user.email=x@y", ...args]);
  await git("init", "-q", "-b", "main");
  await git("add", "file");
  await git("commit", "-q", "-m", "one");
  await git("update-server-info");
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // apt asks for `/./Packages`, which the proxies pass on as it is.
  const { pathname: path } = new URL(request.url!, "http://web");
  agents.set(path, request.headers["user-agent"] ?? "");
  if (path === "/large") return void response.end(large);
  if (path === "/ca.pem") return void response.end(await trusted());
  if (path === "/Packages") return void response.end("Package: tiny\nVersion: 1\nArchitecture: all\n");
  if (path === "/hello") return void response.end("hello from the web");
  const file = await readFile(join(folder, "repository", ".git", path.replace(/^\/repository\//, ""))).catch(
    () => null,
  );
  response.writeHead(file ? 200 : 404).end(file ?? "");
}

/** Certificates that this host trusts: the registry that it uses may have its own. */
async function trusted(): Promise<Buffer> {
  return readFile(process.env.NODE_EXTRA_CA_CERTS ?? "/etc/ssl/certs/ca-certificates.crt");
}

async function inGuest(command: string, user: "agent" | "root" = "agent"): Promise<string> {
  // npm takes a minute in a machine that is emulated on a busy host.
  const guest = await service.server.machines.guest(id);
  const { exitCode, stdout, stderr } = await guest.exec({ command, user, timeoutMs: 280_000 });
  if (exitCode !== 0) throw new Error(`${command}: ${exitCode}\n${stdout}\n${stderr}`);
  return stdout.trim();
}

const names = "http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY NODE_USE_ENV_PROXY";
const desired = names.split(" ").map((name) => {
  const value = name.startsWith("NODE") ? "1" : /^no/i.test(name) ? "localhost,127.0.0.1,::1" : "http://127.0.0.1:7002";
  return `${name}=${value}`;
});
const show = `env | grep -iE 'proxy' | sort`;

test.each([
  ["a command of the agent's", "agent", show],
  ["a command of root's", "root", show],
  ["sudo", "agent", `sudo sh -c "${show}"`],
  ["a login shell in a bare environment", "agent", `env -i bash -lc "${show}"`],
  ["su", "root", `su - agent -c "${show}"`],
] as const)("%s has the proxy in its environment", async (_who, user, command) => {
  const lines = (await inGuest(command, user)).split("\n");
  expect(lines.filter((line) => !/^(_|SUDO_COMMAND)=/.test(line)).sort()).toEqual([...desired].sort());
});

test("the runtime's own commands have it too, and its model is not asked through it", async () => {
  const { text } = await service.client.chat("ada", `run: curl -s http://${host}/hello; echo; ${show}`);
  expect(text).toContain("hello from the web");
  for (const line of desired) expect(text).toContain(line);
});

test.each([
  ["curl", "/hello", /^curl/, "agent", (url: string) => `curl -sf ${url}/hello`],
  ["wget", "/hello", /^Wget/, "agent", (url: string) => `wget -qO- ${url}/hello`],
  [
    "Node",
    "/hello",
    /node/,
    "agent",
    (url: string) => `node -e 'fetch("${url}/hello").then(r => r.text()).then(console.log)'`,
  ],
  [
    "Python",
    "/hello",
    /^Python-urllib/,
    "agent",
    (url: string) => `python3 -c 'from urllib.request import urlopen; print(urlopen("${url}/hello").read().decode())'`,
  ],
  [
    "git",
    "/repository/info/refs",
    /^git/,
    "agent",
    (url: string) => `rm -rf /tmp/r && git clone -q ${url}/repository /tmp/r && cat /tmp/r/file`,
  ],
  [
    "pip",
    "/simple/tiny/",
    /^pip/,
    "agent",
    (url: string) =>
      `pip download --trusted-host ${address} --index-url ${url}/simple tiny 2>&1 | grep -c 'No matching'`,
  ],
  [
    "apt",
    "/Packages",
    /^Debian APT/,
    "agent",
    (url: string) =>
      `echo 'deb [trusted=yes] ${url} ./' >/tmp/apt.list && sudo apt-get -qq -o Dir::Etc::sourcelist=/tmp/apt.list update >/dev/null 2>&1; apt-cache -o Dir::Etc::sourcelist=/tmp/apt.list policy tiny | grep -c Candidate`,
  ],
] as const)("%s reaches the web with nothing said to it", async (_name, path, agent, user, command) => {
  agents.clear();
  expect(await inGuest(command(`http://${host}`), user)).toMatch(/from the web|^1$/);
  expect(agents.get(path)).toMatch(agent);
});

test("a package is installed from the npm registry", async () => {
  await inGuest(`curl -sf http://${host}/ca.pem >/tmp/ca.pem`);
  const { stdout: registry } = await run("npm", ["config", "get", "registry"]);
  await inGuest(
    `mkdir -p /tmp/project && cd /tmp/project && NODE_EXTRA_CA_CERTS=/tmp/ca.pem npm install --registry ${registry.trim()} --no-audit --no-fund is-number@7.0.0 2>&1`,
  );
  expect(await inGuest(`cd /tmp/project && node -p 'require("is-number")("7")'`)).toBe("true");
  const { data } = (await service.client.call("GET", "/agents/ada/network/log?verdict=allowed")).body;
  expect((data as EgressLogEntry[]).some(({ host: asked }) => asked === new URL(registry).hostname)).toBe(true);
});

test("a large file comes whole, through the runner and past it, and again after the machine has slept", async () => {
  const sum = createHash("sha256").update(large).digest("hex");
  const download = (how: string) => inGuest(`curl -sf ${how} http://${host}/large | sha256sum | cut -d ' ' -f 1`);
  const downloadAll = async () => [await download(""), await download("--proxytunnel")];
  expect(await downloadAll()).toEqual([sum, sum]);
  expect((await service.client.call("POST", "/agents/ada/suspend")).body.status).toBe("suspended");
  expect((await service.client.call("POST", "/agents/ada/resume?wait=ready")).body.status).toBe("ready");
  expect(await downloadAll()).toEqual([sum, sum]);
  expect(await inGuest("pgrep -fc [s]plice || true")).toBe("0");
});

test("nothing inside is reached through the proxy, by whatever name", async () => {
  const { port } = new URL(service.server.url);
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const targets = [
    ...own.map((each) => (each.family === "IPv6" ? `[${each.address}]` : each.address)),
    "127.0.0.1",
    "localhost",
    "0.0.0.0",
    "10.0.2.2",
    "169.254.169.254",
    "metadata.google.internal",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "2130706433",
    "0x7f.1",
    "127.1",
  ].flatMap((name) => [`${name}:${port}`, `${name}:80`]);
  const codes = `for target in ${targets.join(" ")} ${address}:${port}; do echo "$target $(curl -g -s --noproxy '' -x http://127.0.0.1:7002 -o /dev/null -w '%{http_code}' http://$target/) $(curl -g -s --noproxy '' -p -x http://127.0.0.1:7002 -o /dev/null -w '%{http_connect}' http://$target/)"; done`;
  const lines = (await inGuest(codes)).split("\n");
  expect(lines).toHaveLength(targets.length + 1);
  expect(lines.filter((line) => !/ 40[03] 40[03]$/.test(line))).toEqual([]);
});

test("a secret reaches its host in place of what the machine has, by curl, Node and Python over HTTPS", async () => {
  const authority = await makeAuthority("of-the-world");
  setDefaultCACertificates([...getCACertificates(), authority.certificate]);
  const { certificate: cert, key } = await certify(authority, { kind: "address", text: address }, await makeKeys());
  const seen: string[] = [];
  const secure = createHttpsServer({ cert, key }, ({ headers }, response) => {
    seen.push(String(headers["x-token"]));
    response.end(headers["x-token"]);
  });
  secure.listen(securePort, address);
  await once(secure, "listening");
  const secret = { value: "the-real-value", hosts: [`${address}:${securePort}`], headers: ["x-token"] };
  const set = await service.client.call("PUT", "/agents/ada/secrets/TOKEN", secret);
  expect(set.status).toBe(201);
  expect(await inGuest("echo $TOKEN")).toBe(set.body.placeholder);
  expect(await inGuest("bash -lc 'echo $TOKEN'")).toBe(set.body.placeholder);
  const url = `https://${address}:${securePort}/`;
  const node = `fetch("${url}", { headers: { "x-token": process.env.TOKEN } }).then((r) => r.text()).then(console.log)`;
  const python = `import os, urllib.request as u; print(u.urlopen(u.Request("${url}", headers={"x-token": os.environ["TOKEN"]})).read().decode())`;
  // The host repeats the value, and the machine sees the placeholder.
  expect(await inGuest(`curl -sS -H "x-token: $TOKEN" ${url}`)).toBe(set.body.placeholder);
  expect(await inGuest(`node -e '${node}'`)).toBe(set.body.placeholder);
  expect(await inGuest(`python3 -c '${python}'`)).toBe(set.body.placeholder);
  expect(seen).toEqual(Array(3).fill("the-real-value"));
  // The real runtime's shell has it, too.
  const reply = await service.client.chat("ada", `run: curl -sS -H "x-token: $TOKEN" ${url}`);
  expect(reply.text).toContain(set.body.placeholder);
  expect(seen).toHaveLength(4);
  secure.close().closeAllConnections();
});

/** A port that nobody listens on now. */
async function portFor(): Promise<number> {
  const server = createServer().listen(0, address);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
