import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Agent, InstallStatus } from "../contract/agents.ts";
import type { TurnEvent } from "../contract/chat.ts";

// The tool as it is run, against a service that answers what each test wants.

const launcher = fileURLToPath(new URL("../../berth", import.meta.url));

interface Seen {
  method: string;
  path: string;
  authorization: string | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

type Answer = (response: ServerResponse, seen: Seen) => void;

let server: Server;
let url: string;
let seen: Seen[];
/** By method and path; the first that is there answers, and is used up unless it is the last of its path. */
let answers: Record<string, Answer[]>;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { method = "", url: path = "", headers } = request;
    const one = { method, path, authorization: headers.authorization, headers, body: await text(request) };
    seen.push(one);
    const left = answers[`${method} ${path}`] ?? [refuse(404, "There is no such path.", "path_not_found")];
    (left.length > 1 ? left.shift()! : left[0]!)(response, one);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  seen = [];
  answers = {};
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** An address at which nothing listens. */
async function unusedUrl(): Promise<string> {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  taken.close();
  await once(taken, "close");
  return `http://127.0.0.1:${port}`;
}

function json(body: unknown, status = 200): Answer {
  return (response) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function refuse(statusCode: number, message: string, code: string, details?: unknown): Answer {
  return json({ statusCode, message, error: "", code, details }, statusCode);
}

/** A stream of events, numbered from `from` on, that stays open unless its last event is among them. */
function turn(events: TurnEvent[], { from = 1, breaks = false } = {}): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-turn-id": "t1" });
    for (const [index, event] of events.entries()) {
      response.write(`id: ${from + index}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    if (breaks) response.write(": going\n\n", () => response.destroy());
    else if (/completed|failed|cancelled/.test(events.at(-1)?.type ?? "")) response.end();
  };
}

const delta = (text: string): TurnEvent => ({ type: "response.output_text.delta", delta: text });
const completed: TurnEvent = { type: "response.completed" };

function agent(name: string, changes: Partial<Agent> = {}): Agent {
  return {
    name,
    runtime: "claude-code",
    model: null,
    instructions: null,
    status: "ready",
    createdAt: "2026-01-02T03:04:05.678Z",
    lastActiveAt: "2026-01-02T03:04:05.678Z",
    error: null,
    resources: { cpus: 2, memoryMiB: 1536, diskGiB: 10 },
    ...changes,
  };
}

function start(args: string[], environment: Record<string, string> = {}): ChildProcess {
  return spawn(launcher, args, {
    env: { PATH: process.env.PATH, BERTH_URL: url, BERTH_API_KEY: "berth_sk_test", ...environment },
  });
}

async function ended(child: ChildProcess) {
  const closed = once(child, "close");
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  const [code] = (await closed) as [number | null];
  return { code, stdout, stderr };
}

async function berth(args: string[], { input = "", environment = {} as Record<string, string> } = {}) {
  const child = start(args, environment);
  child.stdin!.on("error", () => {});
  child.stdin!.end(input);
  return ended(child);
}

test("help is there for every command, on stdout", async () => {
  const commands = [[], ["up"], ["down"], ["doctor"], ["agents"], ["agents", "create"], ["chat"], ["api"]];
  for (const command of commands) {
    const { code, stdout, stderr } = await berth([...command, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Usage: ${["berth", ...command].join(" ")} `);
  }
});

test.each([
  "",
  "nope",
  "agents",
  "agents get",
  "agents get a b",
  "agents list --nope",
  "agents get ..",
  "chat ada",
  "api GET http://elsewhere.example/",
  "api GET / -H no-colon",
  "api GET / -d {}",
])("wrong use is exit code 2: berth %s", async (words) => {
  const { code, stdout, stderr } = await berth(words.split(" ").filter(Boolean));
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).not.toBe("");
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(seen).toEqual([]);
});

test("a server that cannot be reached is told with the command that starts it", async () => {
  const closed = await unusedUrl();
  const { code, stderr } = await berth(["agents", "list"], { environment: { BERTH_URL: closed } });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `berth: No answer from ${closed} (ECONNREFUSED). Is the server running? To start it: berth up\n`,
  });
});

test("agents are listed over all pages, with the key", async () => {
  answers["GET /agents?limit=100"] = [json({ data: [agent("ada")], nextCursor: "a b" })];
  answers["GET /agents?limit=100&cursor=a%20b"] = [
    json({ data: [agent("bob", { status: "failed", model: "demo/demo" })], nextCursor: null }),
  ];
  const listed = await berth(["agents", "list"]);
  expect(listed).toEqual({
    code: 0,
    stderr: "",
    stdout:
      "NAME  RUNTIME      MODEL      STATUS\nada   claude-code  default    ready\nbob   claude-code  demo/demo  failed\n",
  });
  expect(seen.map(({ authorization }) => authorization)).toEqual(["Bearer berth_sk_test", "Bearer berth_sk_test"]);
  const { stdout } = await berth(["agents", "list", "--json"]);
  expect(JSON.parse(stdout).data.map(({ name }: Agent) => name)).toEqual(["ada", "bob"]);
});

test("an agent is shown, and deleted without a question in a pipe", async () => {
  answers["GET /agents/ada"] = [json(agent("ada"))];
  answers["DELETE /agents/ada"] = [(response) => response.writeHead(204).end()];
  expect((await berth(["agents", "get", "ada"])).stdout).toMatch(/^status +ready$/m);
  expect(JSON.parse((await berth(["agents", "get", "ada", "--json"])).stdout)).toEqual(agent("ada"));
  expect(await berth(["agents", "delete", "ada"])).toEqual({ code: 0, stdout: "ada is deleted.\n", stderr: "" });
});

test("a refusal is told in the service's words, and as its JSON with --json", async () => {
  const details = { issues: [{ field: "model", message: "is unknown" }] };
  answers["GET /agents/ada"] = [refuse(404, "There is no agent ada.", "agent_not_found", details)];
  const plain = await berth(["agents", "get", "ada"]);
  expect(plain).toEqual({ code: 1, stdout: "", stderr: "berth: There is no agent ada.\n  model: is unknown\n" });
  const { stderr } = await berth(["agents", "get", "ada", "--json"]);
  expect(JSON.parse(stderr)).toMatchObject({ statusCode: 404, code: "agent_not_found", details });
});

test("without a key the reason is told", async () => {
  answers["GET /agents?limit=100"] = [refuse(401, "An Authorization header is required.", "credentials_missing")];
  const environment = { BERTH_API_KEY: "", BERTH_DATA_DIR: "/nowhere" };
  const { code, stderr } = await berth(["agents", "list"], { environment });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "berth: The service asks for a key: set BERTH_API_KEY (there is no /nowhere/operator.key).\n",
  });
});

function installation(status: InstallStatus["status"], running: string | null): InstallStatus {
  const steps = (["template", "disk", "machine", "runtime"] as const).map((name) => ({
    name,
    status: name === running ? ("running" as const) : ("pending" as const),
    startedAt: null,
    finishedAt: null,
  }));
  const error = status === "failed" ? { code: "machine_failed" as const, message: "The machine did not start." } : null;
  return { status, progress: 0, steps, error };
}

/** Streams an installation's states and ends. */
function installing(...states: InstallStatus[]): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(states.map((state) => `data: ${JSON.stringify(state)}\n\n`).join(""));
  };
}

test("an agent's creation is followed until it is ready, over lost connections", async () => {
  answers["POST /agents"] = [json(agent("ada", { status: "provisioning" }), 201)];
  answers["GET /agents/ada/install-status"] = [
    installing(installation("installing", "disk"), installation("installing", "machine")),
    installing(installation("installing", "machine"), installation("installed", null)),
  ];
  const { code, stdout, stderr } = await berth(["agents", "create", "ada", "--model", "demo/demo", "-r", "opencode"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "2/4 making the disk\n3/4 starting the machine\n" });
  expect(stdout).toMatch(/^ada is ready \(\d+\.\d s\)\./);
  expect(JSON.parse(seen[0]!.body)).toEqual({ name: "ada", model: "demo/demo", runtime: "opencode" });
  expect(seen[1]!.headers.accept).toBe("text/event-stream");
});

test("a creation that failed is exit code 1 with its reason; --no-wait does not wait", async () => {
  answers["POST /agents"] = [json(agent("ada", { status: "provisioning" }), 201)];
  answers["GET /agents/ada/install-status"] = [installing(installation("failed", null))];
  const failed = await berth(["agents", "create", "ada"]);
  expect(failed).toEqual({ code: 1, stdout: "", stderr: "berth: The machine did not start.\n" });
  seen = [];
  const { code, stdout } = await berth(["agents", "create", "ada", "--no-wait", "--json"]);
  expect({ code, status: JSON.parse(stdout).status }).toEqual({ code: 0, status: "provisioning" });
  expect(seen).toHaveLength(1);
});

test("a reply is streamed as it came and ends with a line feed", async () => {
  const tool: TurnEvent = { type: "response.tool_call.started", id: "1", name: "Bash" };
  answers["POST /agents/ada/chat"] = [turn([delta("Hello\x1b[1m"), tool, delta(" there"), completed])];
  expect(await berth(["chat", "ada", "Hi"])).toEqual({ code: 0, stdout: "Hello\x1b[1m there\n", stderr: "" });
  expect(JSON.parse(seen[0]!.body)).toEqual({ message: "Hi", include: ["tools"] });
  const { stdout } = await berth(["chat", "ada", "-", "--json"], { input: "from stdin" });
  expect(JSON.parse(seen[1]!.body).message).toBe("from stdin");
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([delta("Hello\x1b[1m"), tool, delta(" there"), completed]);
});

test("a reply is gone on with when its stream breaks off", async () => {
  answers["POST /agents/ada/chat"] = [turn([delta("one ")], { from: 3, breaks: true })];
  answers["GET /agents/ada/turns/t1/events?after=3&include=tools"] = [
    refuse(503, "Not now.", "shutting_down"),
    turn([delta("two"), completed], { from: 4 }),
  ];
  expect(await berth(["chat", "ada", "Hi"])).toEqual({ code: 0, stdout: "one two\n", stderr: "" });
});

test("a turn that failed is exit code 1 with its reason", async () => {
  const failed: TurnEvent = { type: "response.failed", error: { code: "model_failed", message: "No model." } };
  answers["POST /agents/ada/chat"] = [turn([delta("I"), failed])];
  expect(await berth(["chat", "ada", "Hi"])).toEqual({ code: 1, stdout: "I\n", stderr: "berth: No model.\n" });
});

test("Ctrl-C interrupts the turn and waits for its end: exit code 130", async () => {
  const open = Promise.withResolvers<ServerResponse>();
  answers["POST /agents/ada/chat"] = [
    (response, one) => {
      turn([delta("I begin")])(response, one);
      open.resolve(response);
    },
  ];
  answers["POST /agents/ada/turns/t1/cancel"] = [
    async (response) => {
      json({}, 202)(response, seen[0]!);
      (await open.promise).end('id: 2\ndata: {"type":"response.cancelled"}\n\n');
    },
  ];
  const child = start(["chat", "ada", "Hi"]);
  child.stdout!.once("data", () => child.kill("SIGINT"));
  expect(await ended(child)).toEqual({ code: 130, stdout: "I begin\n", stderr: "" });
});

test("a second Ctrl-C quits at once", async () => {
  answers["POST /agents/ada/chat"] = [turn([delta("I begin")])];
  const child = start(["chat", "ada", "Hi"]);
  answers["POST /agents/ada/turns/t1/cancel"] = [() => child.kill("SIGINT")];
  child.stdout!.once("data", () => child.kill("SIGINT"));
  expect(await ended(child)).toEqual({ code: 130, stdout: "I begin\n", stderr: "" });
});

test("a raw request is sent as it is, and its answer's body is shown as it came", async () => {
  answers["PATCH /x?y=1"] = [(response) => response.writeHead(418, { "x-kind": "tea" }).end("a\x1b[1mb")];
  const args = ["api", "-H", "x-a: 1", "-H", "x-b:2", "-i", "patch", "/x?y=1", "-d", "-"];
  const { code, stdout, stderr } = await berth(args, { input: "{not json" });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "a\x1b[1mb" });
  expect(stderr).toMatch(/^HTTP\/1.1 418 .*\n(.+\n)*x-kind: tea\n/);
  expect(seen[0]).toMatchObject({ method: "PATCH", body: "{not json", authorization: "Bearer berth_sk_test" });
  expect(seen[0]!.headers).toMatchObject({ "x-a": "1", "x-b": "2", "content-type": "application/json" });
});

test("a raw stream is shown while it comes", async () => {
  const open = Promise.withResolvers<ServerResponse>();
  answers["GET /stream"] = [
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
      open.resolve(response);
    },
  ];
  const child = start(["api", "GET", "/stream"]);
  const [first] = (await once(child.stdout!, "data")) as [Buffer];
  expect(String(first)).toBe("data: 1\n\n");
  (await open.promise).end("data: 2\n\n");
  expect(await ended(child)).toMatchObject({ code: 0, stdout: "data: 2\n\n" });
});

test("the key goes to the server of BERTH_URL only, whatever the path", async () => {
  const { code } = await berth(["api", "GET", "//127.0.0.1:1/x"]);
  expect(code).toBe(1);
  expect(seen[0]).toMatchObject({ path: "//127.0.0.1:1/x" });
});
