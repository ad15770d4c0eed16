import { once } from "node:events";
import { createServer as createHttpServer, type Server, type ServerResponse } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { BerthError } from "../contract/errors.ts";
import type { TokenCounts } from "../service/ledger.ts";
import type { Payer, Payment } from "./charge.ts";
import { Gateway, type ModelSettings, type ModelTurn } from "./gateway.ts";
import { Prices } from "./prices.ts";
import type { Provider } from "./provider.ts";
import { Upstream } from "./upstream.ts";

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

/** Short, so that faults are seen at once. */
const silenceMs = 400;
const retryMs = 1_500;

/** A turn that notes what the gateway tells it. */
class NotedTurn implements ModelTurn {
  readonly settings: ModelSettings;
  readonly #interruption = new AbortController();
  readonly interrupted = this.#interruption.signal;
  readonly tokens: TokenCounts[] = [];
  readonly refusals: { code: string; message: string; recoverable: boolean }[] = [];
  answers = 0;
  microCredits = 0;
  /** A tool runs, so a refusal does not end it. */
  readonly toolRuns: boolean;

  constructor(settings: Partial<ModelSettings> = {}, toolRuns = false) {
    this.settings = { model: null, instructions: null, ...settings };
    this.toolRuns = toolRuns;
  }

  asked(): void {}

  answered(): void {
    this.answers++;
  }

  used(tokens: TokenCounts, microCredits: number | null): void {
    this.tokens.push(tokens);
    this.microCredits += microCredits ?? Number.NaN;
  }

  refused(fault: { code: string; message: string }, recoverable: boolean): boolean {
    this.refusals.push({ ...fault, recoverable });
    if (recoverable || this.toolRuns) return false;
    this.#interruption.abort();
    return true;
  }

  /** All tokens that were told of, together. */
  get sum(): TokenCounts {
    const sum: Record<string, number> = {};
    for (const each of this.tokens) {
      for (const [name, value] of Object.entries(each)) sum[name] = (sum[name] ?? 0) + value;
    }
    return sum;
  }
}

interface Asking {
  turn: ModelTurn | null;
  settings: Partial<ModelSettings>;
  payer: Payer;
  prices: Prices;
}

/** In micro-credits for a million tokens, so that a token costs whole ones. */
const wholePrices = new Prices(
  Object.fromEntries(
    ["anthropic/*", "openai/*"].map((id) => [id, { input: 1e6, output: 10e6, cacheRead: 0, cacheWrite: 2e6 }]),
  ),
);

/** Credits in memory, with the rules of the ledger. */
class Purse implements Payer {
  /** Micro-credits that nobody holds. */
  left: number;
  held = 0;
  /** Is taken to have plenty. */
  rich = false;
  /** What a hold waits for. */
  waiting: Promise<void> = Promise.resolve();
  readonly paid: { model: string; micro: number; tokens: TokenCounts }[] = [];

  constructor(left = Number.MAX_SAFE_INTEGER) {
    this.left = left;
  }

  hasPlenty(): boolean {
    return this.rich;
  }

  async hold(model: string, micro: number): Promise<Payment> {
    await this.waiting;
    this.#hold(micro);
    let own = micro;
    return {
      extend: async (more) => {
        this.#hold(more);
        own += more;
      },
      settle: async (used, tokens) => {
        this.held -= own;
        this.left += own - used;
        this.paid.push({ model, micro: used, tokens });
      },
    };
  }

  #hold(micro: number): void {
    if (micro > this.left) throw new BerthError("insufficient_credits", "There are no credits left.");
    this.left -= micro;
    this.held += micro;
  }
}

/** A guest's uplink to a gateway with these providers. */
async function uplinkTo(
  providers: { anthropic?: Provider; openai?: Provider },
  { turn = null, settings = {}, payer = new Purse(), prices = wholePrices }: Partial<Asking> = {},
): Promise<ClientHttp2Session> {
  const [guest, server] = await socketPair();
  const gateway = new Gateway({
    providers: { anthropic: null, openai: null, ...providers },
    prices,
    allowUnpriced: false,
    silenceMs,
    retryMs,
    answered: () => {},
    warn: () => {},
  });
  gateway.serve(server, {
    id: "agent-1",
    settings: async () => ({ model: null, instructions: null, ...settings }),
    turn: () => turn,
    payer: () => payer,
  });
  const session = connect("http://berth", { createConnection: () => guest });
  session.on("error", () => {});
  closing.push(() => session.destroy());
  return session;
}

function anthropic(baseUrl: string): Provider {
  return upstream("anthropic", baseUrl);
}

function upstream(name: "anthropic" | "openai", baseUrl: string): Provider {
  const made = new Upstream(name, { baseUrl, apiKey: "the-key" });
  closing.push(() => void made.close());
  return made.ask;
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
  const session = await uplinkTo({ anthropic: anthropic(mockUrl) });
  const whole = await post(session, "/anthropic/v1/messages", hello);
  expect(whole.status).toBe(200);
  expect(JSON.parse(whole.text).content[0].text).toBe("Hello from the mock model.");
  const streamed = await post(session, "/anthropic/v1/messages?beta=true", { ...hello, stream: true });
  expect(streamed.headers["content-type"]).toContain("text/event-stream");
  const deltas = [...streamed.text.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, delta]) => delta);
  expect(deltas.join("")).toBe("Hello from the mock model.");
});

/** A provider's server that answers each request with the next of these, the last again and again. */
async function scripted(...answers: ((response: ServerResponse) => void)[]) {
  const requests: { headers: NodeJS.Dict<string | string[]>; path: string; body: Record<string, unknown> }[] = [];
  const server: Server = createHttpServer(async (request, response) => {
    const body = JSON.parse(await text(request)) as Record<string, unknown>;
    requests.push({ headers: request.headers, path: request.url!, body });
    answers[Math.min(requests.length, answers.length) - 1]!(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Refuses in a provider's shape. */
function refusing(status: number, message: string, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => {
    response.writeHead(status, { "content-type": "application/json", "set-cookie": "a=b", ...headers });
    response.end(JSON.stringify({ type: "error", error: { type: "some_error", message } }));
  };
}

function sse(...events: object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

const beginning = sse(
  { type: "message_start", message: { usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 } } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } },
);
const ending = sse({ type: "message_delta", usage: { output_tokens: 7 } }, { type: "message_stop" });

function streaming(events: string, then: (response: ServerResponse) => void = (response) => response.end()) {
  return (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(events, () => then(response));
  };
}

test("the provider gets its own key and none of the guest's credentials or ids; its refusal is passed on", async () => {
  const { url, requests } = await scripted(refusing(529, "busy", { "retry-after": "7" }));
  const session = await uplinkTo({ anthropic: anthropic(url) }, { settings: { instructions: "Be kind." } });
  const metadata = { user_id: "user_of_the_template_session_1" };
  const answer = await post(session, "/anthropic/v1/messages?beta=true", { ...hello, metadata, system: "You are X." });
  expect(answer.status).toBe(529);
  expect(JSON.parse(answer.text)).toMatchObject({ error: { type: "some_error", message: "busy" } });
  expect(answer.headers["retry-after"]).toBe("7");
  expect(answer.headers["set-cookie"]).toBeUndefined();
  expect(requests).toHaveLength(1);
  expect(requests[0]!.path).toBe("/v1/messages?beta=true");
  expect(requests[0]!.headers["x-api-key"]).toBe("the-key");
  expect(JSON.stringify(requests[0])).not.toMatch(/from-the-guest|of_the_template/);
  expect(requests[0]!.body).toEqual({
    ...hello,
    metadata: { user_id: "agent-1" },
    system: [
      { type: "text", text: "You are X." },
      { type: "text", text: "Be kind." },
    ],
  });
});

test.each([
  [
    "/openai/v1/chat/completions",
    { model: "m", stream: true, user: "u", messages: [{ role: "system", content: "You are X." }] },
    {
      model: "m",
      stream: true,
      user: "agent-1",
      stream_options: { include_usage: true },
      messages: [{ role: "system", content: "You are X.\n\nBe kind." }],
    },
  ],
  [
    "/openai/v1/chat/completions",
    { model: "m", messages: [{ role: "user", content: "hello" }] },
    {
      model: "m",
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "hello" },
      ],
    },
  ],
  [
    "/openai/v1/responses",
    { model: "m", prompt_cache_key: "session", instructions: "You are X.", input: "hello" },
    { model: "m", prompt_cache_key: "agent-1", instructions: "You are X.\n\nBe kind.", input: "hello" },
  ],
])("%s is passed with instructions and the agent's own name", async (path, sent, got) => {
  const { url, requests } = await scripted(refusing(400, "enough"));
  const session = await uplinkTo(
    { openai: upstream("openai", `${url}/v1`) },
    { settings: { instructions: "Be kind." } },
  );
  await post(session, path, sent);
  expect(requests[0]!.body).toEqual(got);
  expect(requests[0]!.path).toBe(path.replace("/openai", ""));
  expect(requests[0]!.headers.authorization).toBe("Bearer the-key");
});

test.each([
  ["GET", "/anthropic/v1/messages"],
  ["POST", "/anthropic/v1/files"],
  ["POST", "/anthropic/v1/../v1/organizations"],
  ["POST", "/openai/v1/files"],
  ["POST", "/"],
])("%s %s is not offered to agents", async (method, path) => {
  const { url, requests } = await scripted(refusing(500, "reached"));
  const session = await uplinkTo({ anthropic: anthropic(url), openai: upstream("openai", url) });
  const answer = await post(session, path, hello, method);
  expect(answer.status).toBe(404);
  expect(JSON.parse(answer.text).error.message).toMatch(/not offered/);
  expect(requests).toEqual([]);
});

test("where there is no web, as for a template, nothing is connected", async () => {
  const session = await uplinkTo({});
  const stream = session.request({ ":method": "CONNECT", ":authority": "example.com:443" }, { endStream: false });
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  stream.close();
  expect(headers[":status"]).toBe(404);
});

test("a provider without a key is told as such; an agent of the demonstration's model never reaches another", async () => {
  const { url, requests } = await scripted(refusing(500, "reached"));
  const session = await uplinkTo({ anthropic: anthropic(url) });
  const answer = await post(session, "/openai/v1/chat/completions", hello);
  expect(answer).toMatchObject({ status: 404, text: expect.stringContaining("no key of openai") });
  const demonstration = await uplinkTo({ anthropic: anthropic(url) }, { settings: { model: "demo/demo" } });
  expect((await post(demonstration, "/anthropic/v1/messages", hello)).text).toContain("demonstration model");
  expect(requests).toEqual([]);
});

test("a provider that cannot be reached is an error in its own shape", async () => {
  const session = await uplinkTo({ anthropic: anthropic("http://127.0.0.1:1") });
  const answer = await post(session, "/anthropic/v1/messages", hello);
  expect(answer.status).toBe(502);
  expect(JSON.parse(answer.text).error.message).toMatch(/cannot be reached \(ECONNREFUSED\)/);
  expect(answer.text).not.toContain("the-key");
});

test("an answer passes byte for byte, and its tokens are counted as they come", async () => {
  const { url } = await scripted(streaming(beginning + ending));
  const turn = new NotedTurn();
  const answer = await post(await uplinkTo({ anthropic: anthropic(url) }, { turn }), "/anthropic/v1/messages", hello);
  expect(answer.text).toBe(beginning + ending);
  expect(turn.sum).toEqual({ input: 15, cacheRead: 5, output: 7 });
  expect(turn.answers).toBe(1);
  expect(turn.refusals).toEqual([]);
});

test("within a turn a passing refusal is asked again, as the provider wishes, and nobody sees it", async () => {
  const { url, requests } = await scripted(
    refusing(429, "slow", { "retry-after": "1" }),
    streaming(beginning + ending),
  );
  const turn = new NotedTurn();
  const answer = await post(await uplinkTo({ anthropic: anthropic(url) }, { turn }), "/anthropic/v1/messages", hello);
  expect(answer.text).toBe(beginning + ending);
  expect(requests).toHaveLength(2);
  expect(turn.refusals).toEqual([]);
});

test.each([
  ["400", refusing(400, "prompt is too long"), "model_request_refused", /\(400\): prompt is too long\.$/],
  ["400 of money", refusing(400, "Your credit balance is too low"), "model_unpaid", /payment.*credit balance/],
  ["401", refusing(401, "invalid key sk-123"), "model_credentials_refused", /key \(401\)\.$/],
  ["402", refusing(402, "pay"), "model_unpaid", /\(402\): pay/],
  ["403", refusing(403, "no"), "model_credentials_refused", /\(403\)\.$/],
  ["404", refusing(404, "no model m"), "model_not_available", /no model m/],
  ["429", refusing(429, "slow"), "model_rate_limited", /slow/],
  ["429 for long", refusing(429, "slow", { "retry-after": "60" }), "model_rate_limited", /again in 60 s/],
  ["500", refusing(500, "oops"), "model_failed", /oops/],
  ["529", refusing(529, "Overloaded"), "model_overloaded", /Overloaded/],
  ["nothing", () => {}, "model_stalled", /nothing for 0\.4 s/],
  ["half an answer", streaming(beginning, (response) => response.destroy()), "model_interrupted", /broke off/],
  ["an answer without an end", streaming(beginning), "model_interrupted", /broke off/],
  ["half an answer and silence", streaming(beginning, () => {}), "model_stalled", /nothing for/],
  [
    "an error within the answer",
    streaming(beginning + sse({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })),
    "model_overloaded",
    /Overloaded/,
  ],
])("%s ends the turn with its reason, and the guest is not told", async (what, answers, code, message) => {
  const { url } = await scripted(answers);
  const turn = new NotedTurn();
  const session = await uplinkTo({ anthropic: anthropic(url) }, { turn });
  // A runtime that is interrupted hangs up.
  turn.interrupted.addEventListener("abort", () => setTimeout(() => session.destroy(new Error("interrupted")), 50));
  const answer = await post(session, "/anthropic/v1/messages", hello).catch((error: Error) => error);
  expect(turn.refusals).toEqual([{ code, message: expect.stringMatching(message), recoverable: what === "400" }]);
  if (what === "400") expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("too long") });
  else expect(JSON.stringify(answer)).not.toMatch(/Overloaded|oops|slow|pay/);
});

test("while a tool runs, or outside of any turn, the guest is told itself", async () => {
  const { url } = await scripted(refusing(404, "no model m"));
  for (const turn of [new NotedTurn({}, true), null]) {
    const answer = await post(await uplinkTo({ anthropic: anthropic(url) }, { turn }), "/anthropic/v1/messages", hello);
    expect(answer).toMatchObject({ status: 404, text: expect.stringContaining("no model m") });
  }
});

test("a guest that hangs up ends the call to the provider", async () => {
  const aborted = Promise.withResolvers<void>();
  const provider: Provider = async ({ signal }) => {
    signal.addEventListener("abort", () => aborted.resolve());
    return {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: (async function* () {
        yield "one";
        await aborted.promise;
      })(),
    };
  };
  const session = await uplinkTo({ anthropic: provider });
  const stream = session.request({ ":method": "POST", ":path": "/anthropic/v1/messages" });
  stream.end("{}");
  await once(stream, "data");
  stream.close();
  await aborted.promise;
});

/** `hello`, streamed, with so many tokens of output at most. */
const streamed = (max_tokens = 100) => ({ ...hello, max_tokens, stream: true });

test("what was used is paid by the provider's figures, and nothing stays held", async () => {
  const { url } = await scripted(streaming(beginning + ending));
  const purse = new Purse();
  const turn = new NotedTurn();
  const session = await uplinkTo({ anthropic: anthropic(url) }, { turn, payer: purse });
  await post(session, "/anthropic/v1/messages", streamed());
  await expect.poll(() => purse.paid).toHaveLength(1);
  const [{ model, micro, tokens }] = purse.paid as [(typeof purse.paid)[0]];
  expect(model).toBe("anthropic/claude-any");
  expect(tokens).toEqual({ input: 15, cacheRead: 5, output: 7 });
  // 10 of plain input at 1, 7 of output at 10; what came from the cache is free here.
  expect(micro).toBe(80);
  expect(turn.microCredits).toBe(80);
  expect(purse.held).toBe(0);
});

test("without credits the provider is not asked: a turn ends with the reason, and outside of one it is a 402", async () => {
  const { url, requests } = await scripted(streaming(beginning + ending));
  const turn = new NotedTurn();
  const poor = new Purse(10);
  const within = await uplinkTo({ anthropic: anthropic(url) }, { turn, payer: poor });
  const stream = within.request({ ":method": "POST", ":path": "/anthropic/v1/messages" });
  stream.on("error", () => {}).end(JSON.stringify(streamed()));
  await expect.poll(() => turn.refusals).toEqual([expect.objectContaining({ code: "insufficient_credits" })]);
  stream.close();
  const outside = await uplinkTo({ anthropic: anthropic(url) }, { payer: poor });
  const refused = await post(outside, "/anthropic/v1/messages", streamed());
  expect(refused.status).toBe(402);
  expect(JSON.parse(refused.text).error.type).toBe("billing_error");
  expect(requests).toHaveLength(0);
  expect(poor).toMatchObject({ left: 10, held: 0 });
});

test("who has plenty does not wait for credits to be held, but is given nothing before they are", async () => {
  const { url, requests } = await scripted(streaming(beginning + ending));
  const purse = new Purse();
  const granted = Promise.withResolvers<void>();
  Object.assign(purse, { rich: true, waiting: granted.promise });
  const session = await uplinkTo({ anthropic: anthropic(url) }, { payer: purse });
  let answered = false;
  const answer = post(session, "/anthropic/v1/messages", streamed()).finally(() => {
    answered = true;
  });
  await expect.poll(() => requests).toHaveLength(1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect([answered, purse.held]).toEqual([false, 0]);
  granted.resolve();
  expect(await answer).toMatchObject({ status: 200, text: beginning + ending });
  await expect.poll(() => purse.paid.map(({ micro }) => micro)).toEqual([80]);
});

test.each([
  ["does not answer yet", () => {}],
  ["has begun to answer", streaming(beginning)],
  ["has refused", refusing(500, "oops")],
])(
  "credits that turn out not to be there end a call whose provider %s, and nothing is paid",
  async (_case, provider) => {
    let hungUp = false;
    const { url, requests } = await scripted((response) => {
      response.on("close", () => {
        hungUp = true;
      });
      provider(response);
    });
    const purse = new Purse(10);
    const granted = Promise.withResolvers<void>();
    Object.assign(purse, { rich: true, waiting: granted.promise });
    const session = await uplinkTo({ anthropic: anthropic(url) }, { payer: purse });
    const answer = post(session, "/anthropic/v1/messages", streamed());
    await expect.poll(() => requests).toHaveLength(1);
    granted.resolve();
    expect((await answer).status).toBe(402);
    await expect.poll(() => hungUp).toBe(true);
    expect(purse).toMatchObject({ left: 10, held: 0, paid: [] });
  },
);

test("a call that was refused by the provider, or that nobody counts, costs nothing", async () => {
  const { url } = await scripted(refusing(400, "too long"));
  const purse = new Purse(1e6);
  const session = await uplinkTo({ anthropic: anthropic(url) }, { payer: purse });
  expect((await post(session, "/anthropic/v1/messages", streamed())).status).toBe(400);
  await expect.poll(() => purse.paid).toEqual([{ model: "anthropic/claude-any", micro: 0, tokens: {} }]);
  expect(purse).toMatchObject({ left: 1e6, held: 0 });
  expect((await post(session, "/anthropic/v1/messages/count_tokens", hello)).status).toBe(400);
  expect(purse.paid).toHaveLength(1);
});

const word = (text: string) => sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });

test("an answer that breaks off is paid by what has come of it", async () => {
  const { url } = await scripted(streaming(beginning + word("x".repeat(397)), (response) => response.destroy()));
  const purse = new Purse();
  const session = await uplinkTo({ anthropic: anthropic(url) }, { payer: purse });
  const stream = session.request({ ":method": "POST", ":path": "/anthropic/v1/messages" });
  stream
    .on("error", () => {})
    .resume()
    .end(JSON.stringify(streamed()));
  await expect.poll(() => purse.paid).toHaveLength(1);
  // 400 bytes were written: a hundred tokens.
  expect(purse.paid[0]).toMatchObject({ micro: 10 + 1_000, tokens: { input: 15, output: 100 } });
  expect(purse.held).toBe(0);
});

test("a guest that hangs up pays for what had come, by an estimate where the provider tells only at the end", async () => {
  const chunk = { object: "chat.completion.chunk", choices: [{ delta: { content: "y".repeat(40) } }] };
  const { url } = await scripted(streaming(sse(chunk), () => {}));
  const purse = new Purse();
  const session = await uplinkTo({ openai: upstream("openai", url) }, { payer: purse });
  const stream = session.request({ ":method": "POST", ":path": "/openai/v1/chat/completions" });
  stream.on("error", () => {}).end(JSON.stringify({ ...streamed(), model: "gpt-any" }));
  await once(stream, "data");
  stream.close(8);
  await expect.poll(() => purse.paid).toHaveLength(1);
  const { tokens, micro } = purse.paid[0]!;
  expect(tokens.output).toBe(10);
  expect(tokens.input).toBeGreaterThan(10);
  expect(micro).toBe(tokens.input! + 100);
});

test("an answer goes on for as long as there are credits for it, and is cut off then", async () => {
  // Two thousand tokens, of which a purse of 15,000 pays for fewer than 1,500.
  const long = Array.from({ length: 20 }, () => word("z".repeat(400))).join("");
  const { url, requests } = await scripted(
    streaming(beginning + long + ending),
    streaming(beginning + long, () => {}),
  );
  const rich = new Purse(1e6);
  const session = await uplinkTo({ anthropic: anthropic(url) }, { payer: rich });
  const whole = await post(session, "/anthropic/v1/messages", streamed(32_000));
  expect(whole.text).toBe(beginning + long + ending);
  const purse = new Purse(15_000);
  const turn = new NotedTurn();
  const poor = await uplinkTo({ anthropic: anthropic(url) }, { turn, payer: purse });
  const stream = poor.request({ ":method": "POST", ":path": "/anthropic/v1/messages" });
  stream
    .on("error", () => {})
    .resume()
    .end(JSON.stringify(streamed(32_000)));
  await expect.poll(() => turn.refusals).toEqual([expect.objectContaining({ code: "insufficient_credits" })]);
  stream.close();
  await expect.poll(() => purse.paid).toHaveLength(1);
  expect(requests).toHaveLength(2);
  // Nobody has to pay for more than one chunk beyond what was held.
  expect(purse.held).toBe(0);
  expect(purse.left).toBeGreaterThan(-25_000);
});

test("a model without a price is refused, by its name and with what helps", async () => {
  const session = await uplinkTo({ anthropic: anthropic(mockUrl) }, { prices: new Prices() });
  const refused = await post(session, "/anthropic/v1/messages", hello);
  expect(refused.status).toBe(404);
  expect(JSON.parse(refused.text).error.message).toMatch(/anthropic\/claude-any.*BERTH_PRICES_FILE/);
});

test.each([
  ["a byte order mark before it", Buffer.from(`\ufeff${JSON.stringify(hello)}`)],
  ["UTF-16", Buffer.from(`\ufeff${JSON.stringify(hello)}`, "utf16le")],
  ["a NaN", Buffer.from(JSON.stringify(hello).replace("100", "NaN"))],
  ["a list around it", Buffer.from(JSON.stringify([hello]))],
])("a request with %s, which others might read, reaches no provider unpaid", async (_, body) => {
  let asked = 0;
  const provider: Provider = async () => {
    asked++;
    return { status: 200, headers: {}, body: (async function* () {})() };
  };
  const session = await uplinkTo({ anthropic: provider });
  const stream = session.request({ ":method": "POST", ":path": "/anthropic/v1/messages" });
  stream.end(body);
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  expect([headers[":status"], asked]).toEqual([400, 0]);
  expect(await text(stream)).toContain("JSON");
});

test("a guest that has most of an answer in one piece and hangs up pays for it", async () => {
  const whole = JSON.stringify({ type: "message", content: [{ type: "text", text: "w".repeat(4_000) }], usage: {} });
  const { url } = await scripted((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(whole.slice(0, -20));
  });
  const purse = new Purse();
  const session = await uplinkTo({ anthropic: anthropic(url) }, { payer: purse });
  const stream = session.request({ ":method": "POST", ":path": "/anthropic/v1/messages" });
  stream.on("error", () => {}).end(JSON.stringify(hello));
  await once(stream, "data");
  stream.close(8);
  await expect.poll(() => purse.paid).toHaveLength(1);
  expect(purse.paid[0]!.tokens.output).toBeGreaterThan(1_000);
  expect(purse.held).toBe(0);
});

test("all that an answer may hold is held for: each choice, by the largest of its limits", async () => {
  const held: number[] = [];
  const hold: Payer["hold"] = async (_model, micro) => {
    held.push(micro);
    throw new BerthError("insufficient_credits", "There are no credits left.");
  };
  const session = await uplinkTo(
    { openai: upstream("openai", "http://127.0.0.1:1") },
    { payer: { hold, hasPlenty: () => false } },
  );
  const small = { model: "m", messages: [], max_tokens: 1 };
  for (const body of [
    { ...small, n: 100, max_completion_tokens: 1_000 },
    { ...small, stream: true, n: 100, max_tokens: 2_000 },
    { ...small, max_tokens: 1e300 },
  ]) {
    expect((await post(session, "/openai/v1/chat/completions", body)).status).toBe(402);
  }
  expect(held[0]).toBeGreaterThan(100 * 1_000 * 10);
  expect(held[1]).toBeLessThan(100 * 1_000 * 10);
  expect(held[2]).toBeLessThan(Number.MAX_SAFE_INTEGER);
});

test("a text is no file, whatever it looks like", async () => {
  const held: number[] = [];
  const hold: Payer["hold"] = async (_model, micro) => {
    held.push(micro);
    throw new BerthError("insufficient_credits", "There are no credits left.");
  };
  const session = await uplinkTo(
    { anthropic: anthropic("http://127.0.0.1:1") },
    { payer: { hold, hasPlenty: () => false } },
  );
  const data = "abcd".repeat(100_000);
  const source = (type: string) => ({ type: "document", source: { type, media_type: "text/plain", data } });
  for (const content of [data, `data:image/png;base64,${data}`, [{ type: "text", text: data }], [source("text")]]) {
    const messages = [{ role: "user", content }];
    expect((await post(session, "/anthropic/v1/messages", { ...hello, messages })).status).toBe(402);
  }
  expect(Math.min(...held)).toBeGreaterThan(100_000);
  held.length = 0;
  const messages = [{ role: "user", content: [source("base64")] }];
  await post(session, "/anthropic/v1/messages", { ...hello, messages });
  expect(held[0]).toBeLessThan(10_000);
});

test("what a model writes as a function's input, or as a refusal, is paid where the guest hangs up before the count", async () => {
  const delta = { refusal: "r".repeat(40), function_call: { name: "f", arguments: "a".repeat(400) } };
  const { url } = await scripted(streaming(sse({ choices: [{ delta }] }), () => {}));
  const purse = new Purse();
  const session = await uplinkTo({ openai: upstream("openai", url) }, { payer: purse });
  const stream = session.request({ ":method": "POST", ":path": "/openai/v1/chat/completions" });
  stream.on("error", () => {}).end(JSON.stringify({ ...streamed(), model: "gpt-any" }));
  await once(stream, "data");
  stream.close(8);
  await expect.poll(() => purse.paid).toHaveLength(1);
  expect(purse.paid[0]!.tokens.output).toBe(110);
});

test("an answer is not made in the background, where nobody counts it", async () => {
  const { url, requests } = await scripted(refusing(400, "enough"));
  const session = await uplinkTo({ openai: upstream("openai", url) });
  await post(session, "/openai/v1/responses", { model: "m", input: "hello", background: true });
  expect(requests[0]!.body).toEqual({ model: "m", input: "hello", background: false });
});

test("what a provider says about the key is not told to the guest", async () => {
  const { url } = await scripted(refusing(401, "Incorrect API key provided: the-key"));
  const answer = await post(await uplinkTo({ anthropic: anthropic(url) }), "/anthropic/v1/messages", hello);
  expect(answer).toMatchObject({ status: 401, text: expect.stringContaining("authentication_error") });
  expect(answer.text).not.toContain("the-key");
});

test.each([["x".repeat(201)], ["a\0b"], ["\ud800"], [7]])(
  "a model named %j is refused before anything is held",
  async (model) => {
    const purse = new Purse();
    const session = await uplinkTo({ anthropic: anthropic(mockUrl) }, { payer: purse });
    const refused = await post(session, "/anthropic/v1/messages", { ...hello, model });
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text).error.message).toContain("200 printable");
    expect(purse.paid).toEqual([]);
  },
);

test("a request that is too large is told so", async () => {
  const session = await uplinkTo({ anthropic: anthropic(mockUrl) });
  const refused = await post(session, "/anthropic/v1/messages", { ...hello, system: "x".repeat(33 * 1024 * 1024) });
  expect(refused.status).toBe(413);
  expect(JSON.parse(refused.text).error.message).toContain("32 MiB");
});

test("a machine makes so many calls at once, and the next when one of them is over", async () => {
  const session = await uplinkTo({ anthropic: anthropic(mockUrl) });
  const begin = () => {
    const stream = session.request({ ":method": "POST", ":path": "/anthropic/v1/messages" });
    stream.on("error", () => {}).write("{");
    return stream;
  };
  const [first] = Array.from({ length: 16 }, begin);
  await expect.poll(async () => (await post(session, "/anthropic/v1/messages", hello)).status).toBe(429);
  const refused = await post(session, "/openai/v1/chat/completions", { ...hello, system: "x".repeat(1e6) });
  expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
  expect(JSON.parse(refused.text).error.message).toContain("16 model calls");
  first!.close(8);
  await expect.poll(async () => (await post(session, "/anthropic/v1/messages", hello)).status).toBe(200);
});
