import { once } from "node:events";
import { createServer as createHttpServer, type Server } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { anthropic } from "./anthropic.ts";
import { demo } from "./demo.ts";
import { Gateway } from "./gateway.ts";
import type { Provider } from "./provider.ts";

const mock = new LLMock({ port: 0 });
let mockUrl: string;
const closing: (() => void)[] = [];

beforeAll(async () => {
  mockUrl = await mock.start();
  mock.onMessage("hello", { content: "Hello from the mock model." });
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
afterAll(() => mock.stop());

/** The two ends of one connection, as between a guest and the server. */
async function socketPair(): Promise<[Socket, Socket]> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const guest = connectSocket((listener.address() as AddressInfo).port, "127.0.0.1");
  const [server] = (await once(listener, "connection")) as [Socket];
  listener.close();
  return [guest, server];
}

/** A guest's uplink to a gateway with this provider. */
async function uplinkTo(provider: Provider, model: string | null = null): Promise<ClientHttp2Session> {
  const [guest, server] = await socketPair();
  new Gateway(provider, () => {}).serve(server, { id: "agent-1", model: async () => model });
  const session = connect("http://berth", { createConnection: () => guest });
  session.on("error", () => {});
  closing.push(() => session.destroy());
  return session;
}

async function post(session: ClientHttp2Session, path: string, body: unknown, method = "POST") {
  const stream = session.request({
    ":method": method,
    ":path": path,
    "content-type": "application/json",
    "x-api-key": "from-the-guest",
    authorization: "Bearer from-the-guest",
  });
  if (method !== "GET") stream.end(typeof body === "string" ? body : JSON.stringify(body));
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  return { status: Number(headers[":status"]), headers, text: await text(stream) };
}

const hello = { model: "claude-any", max_tokens: 100, messages: [{ role: "user", content: "hello" }] };

test("a call goes through to a server that speaks Anthropic's API, streamed and whole", async () => {
  const session = await uplinkTo(anthropic(mockUrl, "the-key"));
  const whole = await post(session, "/anthropic/v1/messages", hello);
  expect(whole.status).toBe(200);
  expect(JSON.parse(whole.text).content[0].text).toBe("Hello from the mock model.");
  const streamed = await post(session, "/anthropic/v1/messages?beta=true", { ...hello, stream: true });
  expect(streamed.headers["content-type"]).toContain("text/event-stream");
  const deltas = [...streamed.text.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, delta]) => delta);
  expect(deltas.join("")).toBe("Hello from the mock model.");
});

/** A provider's server that answers with what it was sent. */
async function recorder(): Promise<{
  url: string;
  requests: { headers: NodeJS.Dict<string | string[]>; body: Record<string, unknown> }[];
}> {
  const requests: { headers: NodeJS.Dict<string | string[]>; body: Record<string, unknown> }[] = [];
  const server: Server = createHttpServer(async (request, response) => {
    requests.push({ headers: request.headers, body: JSON.parse(await text(request)) as Record<string, unknown> });
    response
      .writeHead(529, { "content-type": "application/json", "retry-after": "7", "set-cookie": "a=b" })
      .end('{"type":"error"}');
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

test("the provider gets its own key and none of the guest's credentials or ids; its refusal is passed on", async () => {
  const { url, requests } = await recorder();
  const session = await uplinkTo(anthropic(url, "the-key"), "claude-chosen");
  const metadata = { user_id: "user_of_the_template_session_1" };
  const answer = await post(session, "/anthropic/v1/messages", { ...hello, metadata });
  expect(answer).toMatchObject({ status: 529, text: '{"type":"error"}' });
  expect(answer.headers["retry-after"]).toBe("7");
  expect(answer.headers["set-cookie"]).toBeUndefined();
  expect(requests[0]!.headers["x-api-key"]).toBe("the-key");
  expect(JSON.stringify(requests[0])).not.toMatch(/from-the-guest|of_the_template/);
  expect(requests[0]!.body).toMatchObject({ model: "claude-chosen", metadata: { user_id: "agent-1" } });
});

test.each([
  ["GET", "/anthropic/v1/messages"],
  ["POST", "/anthropic/v1/files"],
  ["POST", "/anthropic/v1/../v1/organizations"],
  ["POST", "/openai/v1/responses"],
  ["POST", "/"],
])("%s %s is not offered to agents", async (method, path) => {
  const { url, requests } = await recorder();
  const answer = await post(await uplinkTo(anthropic(url, "the-key")), path, hello, method);
  expect(answer.status).toBe(404);
  expect(JSON.parse(answer.text)).toMatchObject({ type: "error", error: { type: "not_found_error" } });
  expect(requests).toEqual([]);
});

test("a provider that cannot be reached is an error in its own shape", async () => {
  const answer = await post(
    await uplinkTo(anthropic("http://127.0.0.1:1", "the-key")),
    "/anthropic/v1/messages",
    hello,
  );
  expect(answer.status).toBe(502);
  expect(JSON.parse(answer.text).error.message).toMatch(/cannot be reached \(ECONNREFUSED\)/);
  expect(answer.text).not.toContain("the-key");
});

test("a guest that hangs up ends the call to the provider", async () => {
  const aborted = Promise.withResolvers<void>();
  const provider: Provider = async ({ signal }) => {
    signal.addEventListener("abort", () => aborted.resolve());
    return {
      status: 200,
      headers: {},
      body: (async function* () {
        yield "one";
        await aborted.promise;
      })(),
    };
  };
  const session = await uplinkTo(provider);
  const stream = session.request({ ":method": "POST", ":path": "/anthropic/v1/messages" });
  stream.end("{}");
  await once(stream, "data");
  stream.close();
  await aborted.promise;
});

/** A request as a runtime sends it, with a shell tool under some name. */
function asked(messages: unknown[], tool?: string) {
  return { model: "m", messages, ...(tool ? { tools: [{ name: "Read" }, { name: tool }] } : {}) };
}

async function demoAnswer(body: unknown) {
  const answer = await post(await uplinkTo(demo), "/anthropic/v1/messages", body);
  return JSON.parse(answer.text) as {
    content: { type: string; text?: string; name?: string; input?: { command: string } }[];
    stop_reason: string;
  };
}

test("the demonstration model says what it is and remembers the conversation that it is sent", async () => {
  const first = await demoAnswer(asked([{ role: "user", content: "I am Ada." }]));
  expect(first.content[0]!.text).toMatch(/demonstration.*message 1.*“I am Ada\.”/s);
  const second = await demoAnswer(
    asked([
      { role: "user", content: "I am Ada." },
      { role: "assistant", content: "…" },
      {
        role: "user",
        content: [
          { type: "text", text: "<system-reminder>run: rm</system-reminder>" },
          { type: "text", text: "And I?" },
        ],
      },
    ]),
  );
  expect(second.content[0]!.text).toMatch(/message 2.*“And I\?”.*“I am Ada\.”/s);
});

test.each(["Bash", "bash", "exec"])(
  "a line `run: COMMAND` calls the shell tool, named %s, and then tells its output",
  async (tool) => {
    const question = { role: "user", content: "Please\nrun: uname -a \nthanks" };
    const call = await demoAnswer(asked([question], tool));
    expect(call).toMatchObject({
      stop_reason: "tool_use",
      content: [{ type: "tool_use", name: tool, input: { command: "uname -a" } }],
    });
    const result = {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "Linux ada" }] }],
    };
    const told = await demoAnswer(asked([question, { role: "assistant", content: call.content }, result], tool));
    expect(told).toMatchObject({ stop_reason: "end_turn" });
    expect(told.content[0]!.text).toContain("Linux ada");
    const next = { role: "user", content: [...result.content, { type: "text", text: "run: date" }] };
    expect((await demoAnswer(asked([question, next], tool))).content[0]!.input!.command).toBe("date");
  },
);

test("without a shell tool the demonstration model says so; a body that is no request is refused", async () => {
  expect((await demoAnswer(asked([{ role: "user", content: "run: date" }]))).content[0]!.text).toMatch(/no shell tool/);
  expect((await post(await uplinkTo(demo), "/anthropic/v1/messages", "nonsense")).status).toBe(400);
  expect((await post(await uplinkTo(demo), "/anthropic/v1/messages", "null")).status).toBe(400);
  const count = await post(await uplinkTo(demo), "/anthropic/v1/messages/count_tokens", hello);
  expect(JSON.parse(count.text).input_tokens).toBeGreaterThan(10);
});
