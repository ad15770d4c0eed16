import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent, TurnEvent, Usage } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  agent,
  ended,
  installation,
  json,
  refuse,
  ScriptedApi,
  streaming,
  turn,
} from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

/** An address at which nothing listens. */
async function unusedUrl(): Promise<string> {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  taken.close();
  await once(taken, "close");
  return `http://127.0.0.1:${port}`;
}

const delta = (text: string): TurnEvent => ({ type: "response.output_text.delta", delta: text });
const completed: TurnEvent = { type: "response.completed" };

// command-tree.test.ts compares the help of all commands.
test.each(["", "up", "agents", "agents list", "admin users add"])(
  "berth %s --help prints help on stdout",
  async (words) => {
    const command = words.split(" ").filter(Boolean);
    const { code, stdout, stderr } = await api.berth([...command, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Usage: ${["berth", ...command].join(" ")} `);
  },
);

test.each([
  "",
  "nope",
  "agents",
  "agents get",
  "agents get a b",
  "agents list --nope",
  "agents get ..",
  "agents update",
  "agents update ada",
  "agents update ada --json",
  "agents update ada --model a --default-model",
  "agents update ada --instructions a --no-instructions",
  "agents update ada --no-instructions --instructions a",
  "agents update .. --default-model",
  "agents restart",
  "agents restart ada --nope",
  "agents restart ..",
  "agents reset",
  "agents reset .",
  "agents turns",
  "agents turns ada --limit 0",
  "agents turns ada --limit 1.5",
  "agents turns ada --limit many",
  "admin users",
  "admin users add",
  "admin users reset ..",
  "login a",
  "models a",
  "runtimes --nope",
  "chat ada",
  "api GET http://elsewhere.example/",
  "api GET / -H no-colon",
  "api GET / -d {}",
])("wrong use is exit code 2: berth %s", async (words) => {
  const { code, stdout, stderr } = await api.berth(words.split(" ").filter(Boolean));
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).not.toBe("");
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(api.seen).toEqual([]);
});

test("suggests the start command when the server is unreachable", async () => {
  const closed = await unusedUrl();
  const { code, stderr } = await api.berth(["agents", "list"], { environment: { BERTH_URL: closed } });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `berth: No answer from ${closed} (ECONNREFUSED). Is the server running? To start it: berth up\n`,
  });
});

test("agents are listed over all pages, with the key", async () => {
  api.answers["GET /agents?limit=100"] = [json({ data: [agent("ada")], nextCursor: "a b" })];
  api.answers["GET /agents?limit=100&cursor=a+b"] = [
    json({ data: [agent("bob", { status: "failed", model: "demo/demo" })], nextCursor: null }),
  ];
  const listed = await api.berth(["agents", "list"]);
  expect(listed).toEqual({
    code: 0,
    stderr: "",
    stdout:
      "NAME  RUNTIME      MODEL      STATUS\nada   claude-code  default    ready\nbob   claude-code  demo/demo  failed\n",
  });
  expect(api.seen.map(({ authorization }) => authorization)).toEqual(["Bearer berth_sk_test", "Bearer berth_sk_test"]);
  const { stdout } = await api.berth(["agents", "list", "--json"]);
  expect(JSON.parse(stdout).data.map(({ name }: Agent) => name)).toEqual(["ada", "bob"]);
});

test("an agent is shown, and deleted where that is confirmed", async () => {
  api.answers["GET /agents/ada"] = [json(agent("ada"))];
  api.answers["DELETE /agents/ada"] = [(response) => response.writeHead(204).end()];
  expect((await api.berth(["agents", "get", "ada"])).stdout).toMatch(/^status +ready$/m);
  expect(JSON.parse((await api.berth(["agents", "get", "ada", "--json"])).stdout)).toEqual(agent("ada"));
  const deleted = { code: 0, stdout: "ada is deleted.\n", stderr: "" };
  expect(await api.berth(["agents", "delete", "ada", "--yes"])).toEqual(deleted);
});

test.each([
  "agents delete ada",
  "agents reset ada",
  "agents restart ada --new-machine",
  `keys revoke ${crypto.randomUUID()}`,
])("what cannot be undone is refused in a pipe that does not confirm it: %s", async (command) => {
  const { code, stderr } = await api.berth(command.split(" "));
  expect([code, stderr, api.seen]).toEqual([2, expect.stringMatching(/Nothing was .* add --yes\.\n$/), []]);
});

test("reports a refusal in the service's words, and as its JSON with --json", async () => {
  const details = { issues: [{ field: "model", message: "is unknown" }] };
  api.answers["GET /agents/ada"] = [refuse(404, "There is no agent ada.", "agent_not_found", details)];
  const plain = await api.berth(["agents", "get", "ada"]);
  expect(plain).toEqual({ code: 1, stdout: "", stderr: "berth: There is no agent ada.\n  model: is unknown\n" });
  const { stderr } = await api.berth(["agents", "get", "ada", "--json"]);
  expect(JSON.parse(stderr)).toMatchObject({ statusCode: 404, code: "agent_not_found", details });
});

test("reports why there is no key", async () => {
  api.answers["GET /agents?limit=100"] = [refuse(401, "An Authorization header is required.", "credentials_missing")];
  const environment = { BERTH_API_KEY: "", BERTH_DATA_DIR: "/nowhere" };
  const { code, stderr } = await api.berth(["agents", "list"], { environment });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "berth: The service requires a key: set BERTH_API_KEY (there is no /nowhere/operator.key).\n",
  });
});

test("an agent's creation is followed until it is ready, over lost connections", async () => {
  api.answers["POST /agents"] = [json(agent("ada", { status: "provisioning" }), 201)];
  api.answers["GET /agents/ada/install-status"] = [
    streaming(installation("installing", "disk"), installation("installing", "machine")),
    streaming(installation("installing", "machine"), installation("installed", null)),
  ];
  const { code, stdout, stderr } = await api.berth([
    "agents",
    "create",
    "ada",
    "--model",
    "demo/demo",
    "-r",
    "opencode",
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "2/4 making the disk\n3/4 starting the machine\n" });
  expect(stdout).toMatch(/^ada is ready \(\d+\.\d s\)\./);
  expect(JSON.parse(api.seen[0]!.body)).toEqual({ name: "ada", model: "demo/demo", runtime: "opencode" });
  expect(api.seen[1]!.headers.accept).toBe("text/event-stream");
});

test("a creation that failed is exit code 1 with its reason; --no-wait does not wait", async () => {
  api.answers["POST /agents"] = [json(agent("ada", { status: "provisioning" }), 201)];
  api.answers["GET /agents/ada/install-status"] = [streaming(installation("failed", null))];
  const failed = await api.berth(["agents", "create", "ada"]);
  expect(failed).toEqual({ code: 1, stdout: "", stderr: "berth: The machine did not start. (machine_failed)\n" });
  api.seen = [];
  const { code, stdout } = await api.berth(["agents", "create", "ada", "--no-wait", "--json"]);
  expect({ code, status: JSON.parse(stdout).status }).toEqual({ code: 0, status: "provisioning" });
  expect(api.seen).toHaveLength(1);
});

test("a reply is streamed as it came and ends with a line feed", async () => {
  const tool: TurnEvent = { type: "response.tool_call.started", id: "1", name: "Bash" };
  api.answers["POST /agents/ada/chat"] = [turn([delta("Hello\x1b[1m"), tool, delta(" there"), completed])];
  expect(await api.berth(["chat", "ada", "Hi"])).toEqual({ code: 0, stdout: "Hello\x1b[1m there\n", stderr: "" });
  expect(JSON.parse(api.seen[0]!.body)).toEqual({
    message: "Hi",
    include: ["tools", "status", "approvals"],
    whenBusy: "queue",
    onAsk: "wait",
  });
  const { stdout } = await api.berth(["chat", "ada", "-", "--json"], { input: "from stdin" });
  expect(JSON.parse(api.seen[1]!.body).message).toBe("from stdin");
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([delta("Hello\x1b[1m"), tool, delta(" there"), completed]);
});

test("with a schema, the output is printed alone", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-schema-"));
  const file = join(folder, "schema.json");
  const schema = { type: "object", properties: { name: { type: "string" } } };
  await writeFile(file, JSON.stringify(schema));
  api.answers["POST /agents/ada/chat"] = [turn([delta("I look."), { ...completed, output: { name: "Ada" } }])];
  const { code, stdout } = await api.berth(["chat", "ada", "Who?", "--schema", file]);
  expect([code, JSON.parse(stdout)]).toEqual([0, { name: "Ada" }]);
  expect(JSON.parse(api.seen[0]!.body).output).toEqual({ schema });
  for (const [text, wrong] of [
    ["{", "cannot be read as JSON"],
    ["[]", "must be a JSON object"],
  ]) {
    await writeFile(file, text!);
    const refused = await api.berth(["chat", "ada", "Who?", "--schema", file]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(wrong!)]);
  }
  const missing = await api.berth(["chat", "ada", "--schema", file]);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("A message is missing: with --schema")]);
  await rm(folder, { recursive: true });
});

test("a message is sent with limits of its turn", async () => {
  api.answers["POST /agents/ada/chat"] = [turn([completed])];
  await api.berth(["chat", "ada", "Hi", "--max-credits", "5", "--max-minutes", "10", "--max-tool-calls", "50"]);
  expect(JSON.parse(api.seen[0]!.body)).toMatchObject({ maxCredits: "5", maxMinutes: 10, maxToolCalls: 50 });
  const bad = await api.berth(["chat", "ada", "Hi", "--max-minutes", "soon"]);
  expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining("--max-minutes")]);
});

test("resumes a reply when its stream breaks", async () => {
  api.answers["POST /agents/ada/chat"] = [turn([delta("one ")], { from: 3, breaks: true })];
  api.answers["GET /agents/ada/turns/t1/events?after=3&include=tools,status,approvals"] = [
    refuse(503, "Not now.", "shutting_down"),
    turn([delta("two"), completed], { from: 4 }),
  ];
  expect(await api.berth(["chat", "ada", "Hi"])).toEqual({ code: 0, stdout: "one two\n", stderr: "" });
});

test("a turn that failed is exit code 1 with its reason and its code", async () => {
  const error = { code: "model_failed" as const, message: "No model." };
  api.answers["POST /agents/ada/chat"] = [turn([delta("I"), { type: "response.failed", error }])];
  const stderr = "berth: No model. (model_failed)\n";
  expect(await api.berth(["chat", "ada", "Hi"])).toEqual({ code: 1, stdout: "I\n", stderr });
  expect(JSON.parse((await api.berth(["chat", "ada", "Hi", "--json"])).stderr)).toEqual(error);
});

test("reports a turn's usage on stderr across lost connections, and as its event with --json", async () => {
  const usage: Usage = {
    inputTokens: 1200,
    outputTokens: 34,
    cacheReadTokens: 1000,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    contextTokens: null,
    contextLimit: null,
    credits: "0.6",
  };
  api.answers["POST /agents/ada/chat"] = [turn([delta("Hello")], { breaks: true })];
  api.answers["GET /agents/ada/turns/t1/events?after=1&include=tools,status,approvals,usage"] = [
    turn([{ ...completed, usage }], { from: 2 }),
  ];
  api.answers["GET /agents/ada/turns/t1/events?after=1&include=tools,usage"] = [
    turn([{ ...completed, usage }], { from: 2 }),
  ];
  const stderr = "tokens: 1,200 in (1,000 cached), 34 out; credits: 0.6\n";
  expect(await api.berth(["chat", "ada", "Hi", "--usage"])).toEqual({ code: 0, stdout: "Hello\n", stderr });
  expect(JSON.parse(api.seen[0]!.body).include).toEqual(["tools", "status", "approvals", "usage"]);
  const { stdout } = await api.berth(["chat", "ada", "Hi", "--usage", "--json"]);
  expect(stdout).toBe(`${JSON.stringify(delta("Hello"))}\n${JSON.stringify({ ...completed, usage })}\n`);
});

test("Ctrl-C interrupts the turn and waits for its end: exit code 130", async () => {
  const open = Promise.withResolvers<ServerResponse>();
  api.answers["POST /agents/ada/chat"] = [
    (response, one) => {
      turn([delta("I begin")])(response, one);
      open.resolve(response);
    },
  ];
  api.answers["POST /agents/ada/turns/t1/cancel"] = [
    async (response) => {
      json({}, 202)(response, api.seen[0]!);
      (await open.promise).end('id: 2\ndata: {"type":"response.cancelled"}\n\n');
    },
  ];
  const child = api.start(["chat", "ada", "Hi"]);
  child.stdout!.once("data", () => child.kill("SIGINT"));
  expect(await ended(child)).toEqual({ code: 130, stdout: "I begin\n", stderr: "" });
});

test("a second Ctrl-C quits at once", async () => {
  api.answers["POST /agents/ada/chat"] = [turn([delta("I begin")])];
  const child = api.start(["chat", "ada", "Hi"]);
  api.answers["POST /agents/ada/turns/t1/cancel"] = [() => child.kill("SIGINT")];
  child.stdout!.once("data", () => child.kill("SIGINT"));
  expect(await ended(child)).toEqual({ code: 130, stdout: "I begin\n", stderr: "" });
});

test("a raw request is sent as it is, and its answer's body is shown as it came", async () => {
  api.answers["PATCH /x?y=1"] = [(response) => response.writeHead(418, { "x-kind": "tea" }).end("a\x1b[1mb")];
  const args = ["api", "-H", "x-a: 1", "-H", "x-b:2", "-i", "patch", "/x?y=1", "-d", "-"];
  const { code, stdout, stderr } = await api.berth(args, { input: "{not json" });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "a\x1b[1mb" });
  expect(stderr).toMatch(/^HTTP\/1.1 418 .*\n(.+\n)*x-kind: tea\n/);
  expect(api.seen[0]).toMatchObject({ method: "PATCH", body: "{not json", authorization: "Bearer berth_sk_test" });
  expect(api.seen[0]!.headers).toMatchObject({ "x-a": "1", "x-b": "2", "content-type": "application/json" });
});

test("a raw stream is shown while it comes", async () => {
  const open = Promise.withResolvers<ServerResponse>();
  api.answers["GET /stream"] = [
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
      open.resolve(response);
    },
  ];
  const child = api.start(["api", "GET", "/stream"]);
  const [first] = (await once(child.stdout!, "data")) as [Buffer];
  expect(String(first)).toBe("data: 1\n\n");
  (await open.promise).end("data: 2\n\n");
  expect(await ended(child)).toMatchObject({ code: 0, stdout: "data: 2\n\n" });
});

test("the key goes to the server of BERTH_URL only, whatever the path", async () => {
  const { code } = await api.berth(["api", "GET", "//127.0.0.1:1/x"]);
  expect(code).toBe(1);
  expect(api.seen[0]).toMatchObject({ path: "//127.0.0.1:1/x" });
});
