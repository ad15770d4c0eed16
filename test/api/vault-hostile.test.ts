import { once } from "node:events";
import { request } from "node:http";
import { createServer as createHttpsServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { connect as connectTls, getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { certify, makeAuthority, makeKeys } from "../../src/egress/authority.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { TellingHost, told } from "../support/telling-host.ts";

// Programs of agents that want more of a workspace's secret than its use.

const value = "canary-value-of-the-workspace";

let service: ScriptedService;
let host: TellingHost;
let other: TellingHost;
let secure: Server;

beforeAll(async () => {
  const authority = await makeAuthority("of-the-world");
  setDefaultCACertificates([...getCACertificates(), authority.certificate]);
  const { certificate: cert, key } = await certify(authority, { kind: "name", text: "localhost" }, await makeKeys());
  secure = createHttpsServer({ cert, key }, ({ headers }, response) => {
    response.end(Buffer.from(JSON.stringify(headers)).toString("base64"));
  }).listen(0, "127.0.0.1");
  await once(secure, "listening");
  [host, other] = [await TellingHost.start(), await TellingHost.start()];
  service = await ScriptedService.start({ egressInside: [host.authority, other.authority, secureAuthority()] });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  for (const each of [host, other]) each[Symbol.dispose]();
  secure.close().closeAllConnections();
});

const secureAuthority = () => `localhost:${(secure.address() as AddressInfo).port}`;

const call = (method: string, path: string, body?: object) => service.client.call(method, path, body);

const put = (name: string, fields: object = {}) =>
  call("PUT", `/secrets/${name}`, { value, hosts: [host.secretHost], headers: ["x-token"], ...fields });

async function machineOf(name: string) {
  const { driver, client } = service;
  const before = driver.running;
  await client.createAgent(name);
  const id = driver.running.find((each) => !before.includes(each))!;
  return { id, proxy: driver.proxyOf(id), given: () => driver.provided.get(id)! };
}

/** A connection through the proxy of a machine. Each line that is sent is answered with the headers that the host got. */
class OpenConnection {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => {});
    this.closed = new Promise((resolve) => socket.once("close", resolve));
  }

  static async open(proxy: string, authority: string): Promise<OpenConnection> {
    const asked = request(proxy, { method: "CONNECT", path: authority }).end();
    const [response, socket] = (await once(asked, "connect")) as [{ statusCode: number }, Socket];
    expect(response.statusCode).toBe(200);
    return new OpenConnection(socket);
  }

  async send(authority: string, token: string): Promise<string | undefined> {
    this.socket.write(`GET / HTTP/1.1\r\nhost: ${authority}\r\nx-token: ${token}\r\n\r\n`);
    const [chunk] = (await once(this.socket, "data")) as [Buffer];
    let text = chunk.toString();
    while (!/\r\n\r\n.+/s.test(text)) text += ((await once(this.socket, "data")) as [Buffer])[0].toString();
    const body = text
      .slice(text.indexOf("\r\n\r\n"))
      .split("\r\n")
      .find((line) => line.startsWith("ey"))!;
    return told(body)["x-token"];
  }
}

test("a placeholder brings nothing to other hosts, in other headers, or from other agents", async () => {
  const [ada, bob] = [await machineOf("ada"), await machineOf("bob")];
  await put("TOKEN");
  const [own, others] = [ada.given().placeholders.TOKEN!, bob.given().placeholders.TOKEN!];
  expect((await host.ask(ada.proxy, { "x-token": own }))["x-token"]).toBe(value);
  expect((await other.ask(ada.proxy, { "x-token": own }))["x-token"]).toBe(own);
  expect((await host.ask(ada.proxy, { "x-other": own }))["x-other"]).toBe(own);
  expect((await host.ask(ada.proxy, { "x-token": others }))["x-token"]).toBe(others);
  // The parts of a placeholder, or its value's end, are no placeholder either.
  for (const part of [own.slice(0, -1), own.toUpperCase(), "pace"]) {
    expect((await host.ask(ada.proxy, { "x-token": part }))["x-token"]).toBe(part);
  }
});

test("the machine is given no value, seed or private key", async () => {
  const ada = await machineOf("reader");
  await put("IN_MACHINE");
  const given = JSON.stringify(ada.given());
  expect(given).toContain("IN_MACHINE");
  for (const text of [value, "PRIVATE KEY", "seed"]) expect(given).not.toContain(text);
});

test("a connection that is open ends with the right, and stays when only the value changes", async () => {
  const ada = await machineOf("keeps-open");
  await put("HELD", { agents: ["keeps-open"] });
  const placeholder = ada.given().placeholders.HELD!;
  const open = await OpenConnection.open(ada.proxy, host.authority);
  expect(await open.send(host.authority, placeholder)).toBe(value);
  await call("PUT", "/secrets/HELD", { value: "a-newer-value-of-it" });
  expect(await open.send(host.authority, placeholder)).toBe(value);
  await call("PUT", "/secrets/HELD", { agents: [] });
  await open.closed;
  expect((await host.ask(ada.proxy, { "x-token": placeholder }))["x-token"]).toBe(placeholder);
});

test.each([
  ["deleted", "the secret is deleted", () => call("DELETE", "/secrets/ENDS")],
  ["moved", "its host is removed", () => put("ENDS", { hosts: ["example.com"] })],
  [
    "shadowed",
    "the agent has its own",
    () => call("PUT", "/agents/shadowed/secrets/ENDS", { value: "own", hosts: ["example.com"] }),
  ],
])("the open connection of %s ends when %s", async (name, _, change) => {
  const ada = await machineOf(name);
  await put("ENDS");
  const open = await OpenConnection.open(ada.proxy, host.authority);
  expect(await open.send(host.authority, ada.given().placeholders.ENDS!)).toBe(value);
  await change();
  await open.closed;
});

test("an agent's own secret ends its open connections when it is removed, too", async () => {
  const ada = await machineOf("own");
  const own = { value, hosts: [host.secretHost], headers: ["x-token"] };
  const { placeholder } = (await call("PUT", "/agents/own/secrets/MINE", own)).body;
  const open = await OpenConnection.open(ada.proxy, host.authority);
  expect(await open.send(host.authority, placeholder)).toBe(value);
  await call("DELETE", "/agents/own/secrets/MINE");
  await open.closed;
});

test("a machine that never had a secret speaks TLS with the host at once", async () => {
  const ada = await machineOf("fresh");
  await put("OVER_TLS", { hosts: [secureAuthority()] });
  const { placeholders, authority } = ada.given();
  const { socket } = await OpenConnection.open(ada.proxy, secureAuthority());
  const tls = connectTls({ socket, servername: "localhost", ca: authority! });
  await once(tls, "secureConnect");
  expect(await new OpenConnection(tls).send(secureAuthority(), placeholders.OVER_TLS!)).toBe(value);
  tls.destroy();
});

test("many machines that never had a secret keep the authority that they were given", async () => {
  const machines: Awaited<ReturnType<typeof machineOf>>[] = [];
  for (let number = 0; number < 5; number++) machines.push(await machineOf(`many-${number}`));
  await Promise.all([put("ONE"), put("TWO"), put("THREE"), put("SIX")]);
  const certificates = () => machines.map(({ given }) => given().authority);
  const before = certificates();
  await Promise.all([put("FOUR"), put("FIVE")]);
  expect(certificates()).toEqual(before);
  expect(new Set(before).size).toBe(5);
});

test("nothing of it is in the log, the audit log, the log of connections or an export", async () => {
  const { client } = service;
  await machineOf("watched");
  await put("WATCHED", { value: `${value}-as-watched` });
  await put("WATCHED", { value: "not printable: ä" });
  await client.chat("watched", "hello");
  const places = {
    audit: JSON.stringify((await client.call("GET", "/audit?limit=100")).body),
    connections: JSON.stringify((await client.call("GET", "/network/log")).body),
    log: JSON.stringify((await client.call("GET", "/agents/watched/logs")).body),
    export: Buffer.from(await (await client.fetch("GET", "/agents/watched/export")).arrayBuffer()).toString("latin1"),
    agents: JSON.stringify((await client.call("GET", "/agents/watched/secrets")).body),
  };
  for (const [place, text] of Object.entries(places)) {
    expect(text.length, place).toBeGreaterThan(10);
    expect(text, place).not.toContain("canary");
    expect(text, place).not.toContain("not printable");
  }
});
