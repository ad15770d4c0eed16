import { once } from "node:events";
import { type ClientHttp2Session, connect, createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect as connectSocket, createServer, type Server, type Socket } from "node:net";
import { duplexPair } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { ConnectionLog, type LoggedConnection } from "./connection-log.ts";
import { Egress, type EgressOptions } from "./egress.ts";
import { resolveHere } from "./names.ts";
import { Policy, type PolicyOptions } from "./policy.ts";
import { carry, dial, Unconnected } from "./tunnel.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

async function listen(connected: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen: true }, connected).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  return { server, port: (server.address() as AddressInfo).port };
}

const all = { allow: ["*"], deny: [] };

/** The guest's end of an uplink served by an `Egress` with these options. */
async function uplinkTo({ operator = all, inside = [], ...options }: Partial<EgressOptions & PolicyOptions>) {
  const entries: LoggedConnection[] = [];
  const faults: string[] = [];
  const warn = (message: string) => faults.push(message);
  const egress = new Egress({
    policy: new Policy({ operator, inside, own: () => [], lookUp: resolveHere }),
    metrics: { connectionDecided: () => {}, connectionEnded: () => {} },
    rulesOf: async () => ({ ...all, ask: false }),
    secrets: { of: async () => [], certificate: () => Promise.reject(new Error("no secrets")) },
    log: new ConnectionLog(async (batch) => void entries.push(...batch), warn),
    warn,
    ...options,
  });
  const server = createHttp2Server().listen(0, "127.0.0.1");
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    const authority = String(headers[":authority"]);
    const openDownload = () => Promise.reject(new Error("no downloads"));
    void egress.serve({ agentId: "agent-1", authority, stream, name: null, openDownload });
  });
  await once(server, "listening");
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closing.push(
    () => server.close(),
    () => session.destroy(),
    () => void egress.close(),
  );
  return { egress, session, entries, faults };
}

async function ask(session: ClientHttp2Session, authority: string) {
  const stream = session.request({ ":method": "CONNECT", ":authority": authority }, { endStream: false });
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  if (headers[":status"] === 200) return { status: 200, verdict: undefined, text: "", stream };
  stream.end();
  return { status: headers[":status"], verdict: headers["x-berth-verdict"], text: await text(stream), stream };
}

test("a name is looked up once for a connection, and that it leads inside a moment later does not matter", async () => {
  let reached = 0;
  const { port } = await listen((socket) => {
    reached++;
    socket.destroy();
  });
  // 2fff::/16 is unallocated.
  const answers = [["2fff::1"], ["127.0.0.1"], ["2fff::1", "127.0.0.1"], ["2fff::1", "::ffff:7f00:1"], []];
  let asked = 0;
  const { session, entries, egress } = await uplinkTo({ resolve: async () => answers[asked++] ?? [] });
  const authority = `rebinding.example.com:${port}`;
  const first = await ask(session, authority);
  expect([502, 504]).toContain(first.status);
  for (let round = 1; round <= 3; round++) {
    expect(await ask(session, authority)).toMatchObject({ status: 403, verdict: "inside" });
    expect(asked).toBe(round + 1);
  }
  expect(await ask(session, authority)).toMatchObject({ status: 502, verdict: "unresolved" });
  expect(reached).toBe(0);
  await egress.close();
  expect(entries.map(({ address, reason, outcome }) => [address, reason, outcome ?? "none"])).toEqual([
    ["2fff::1", null, first.verdict],
    [null, "inside", "none"],
    [null, null, "unresolved"],
  ]);
});

test("a host that no list allows is not resolved", async () => {
  const resolve = async (name: string): Promise<string[]> => {
    throw new Error(`${name} was looked up`);
  };
  const rulesOf = async () => ({ allow: ["*.example.com"], deny: ["bad.example.com"], ask: false });
  const { session } = await uplinkTo({ resolve, rulesOf, operator: { allow: ["*"], deny: ["*:22"] } });
  expect(await ask(session, "a-secret.evil.example.org:443")).toMatchObject({ status: 403, verdict: "not_allowed" });
  expect(await ask(session, "bad.example.com:443")).toMatchObject({ status: 403, verdict: "denied" });
  expect(await ask(session, "good.example.com:22")).toMatchObject({ status: 403, verdict: "denied_by_operator" });
  expect(await ask(session, "good.example.com:25")).toMatchObject({ status: 403, verdict: "port_refused" });
  expect(await ask(session, "good.example.com:443")).toMatchObject({ status: 502, verdict: "unresolved" });
});

test("without the rules nothing is connected", async () => {
  const { session } = await uplinkTo({ rulesOf: () => Promise.reject(new Error("the database is away")) });
  expect(await ask(session, "example.com:443")).toMatchObject({ status: 503, verdict: "policy_unavailable" });
});

test("each end's end and each end's break reaches the other", async () => {
  const sockets: Socket[] = [];
  const { port } = await listen((socket) => sockets.push(socket.on("error", () => {})));
  const { session, entries, egress } = await uplinkTo({ inside: [`127.0.0.1:${port}`] });
  const open = async () => {
    const { stream, status } = await ask(session, `127.0.0.1:${port}`);
    expect(status).toBe(200);
    stream.on("error", () => {});
    return { stream, socket: sockets.at(-1)! };
  };
  const half = await open();
  half.stream.end("question");
  expect(await text(half.socket)).toBe("question");
  half.socket.end("answer");
  expect(await text(half.stream)).toBe("answer");

  const broken = await open();
  broken.socket.resetAndDestroy();
  await new Promise((resolve) => broken.stream.once("close", resolve));
  expect(broken.stream.rstCode).not.toBe(0);

  const left = await open();
  left.stream.close(8);
  await once(left.socket.resume(), "end");

  const lost = await open();
  session.destroy();
  await once(lost.socket.resume(), "end");
  while (entries.length < 4) await egress.close();
  expect(entries.map(({ outcome }) => outcome)).toEqual(["closed", "reset", "reset", "reset"]);
  expect(entries[0]).toMatchObject({ bytesSent: 8, bytesReceived: 6, address: "127.0.0.1" });
});

test("a tunnel in which nothing moves is ended", async () => {
  const { port } = await listen((socket) => socket.on("error", () => {}));
  const socket = connectSocket({ port, host: "127.0.0.1", allowHalfOpen: true });
  await once(socket, "connect");
  const [near] = duplexPair();
  expect(await carry(near, socket, { idleMs: 50, cut: new AbortController().signal, moved: () => {} })).toBe("idle");
  expect([socket.destroyed, near.destroyed]).toEqual([true, true]);
});

test("a server that does not answer in time is abandoned", async () => {
  const { server, port } = await listen(() => {});
  server.close();
  const dialled = dial(["127.0.0.1"], port, 1_000, new AbortController().signal);
  await expect(dialled).rejects.toMatchObject({ outcome: "unreachable" });
  // An unallocated address: even with a route, nothing answers.
  const late = await dial(["2fff::1"], port, 200, new AbortController().signal).catch((error: unknown) => error);
  expect(late).toBeInstanceOf(Unconnected);
  expect(["timeout", "unreachable"]).toContain((late as Unconnected).outcome);
});

test("failed log writes are retried later, once, in order", async () => {
  const written: string[] = [];
  let away = true;
  const log = new ConnectionLog(
    async (batch) => {
      if (away) throw new Error("the database is away");
      written.push(...batch.map(({ host, count }) => `${host} ${count}`));
    },
    () => {},
  );
  log.refused("agent-1", "inside", "a", 80);
  log.refused("agent-1", "inside", "a", 80);
  await log.flush();
  log.refused("agent-1", "inside", "a", 80);
  log.refused("agent-2", "inside", "a", 80);
  away = false;
  await log.flush();
  expect(written).toEqual(["a 2", "a 1", "a 1"]);
});
