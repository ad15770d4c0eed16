import { once } from "node:events";
import { createServer as createHttpServer, type Server, type ServerResponse } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { TokenCounts } from "../../src/billing/ledger.ts";
import { BerthError } from "../../src/contract/errors.ts";
import type { Payer, Payment } from "../../src/models/charge.ts";
import { demoProvider } from "../../src/models/demo/demo.ts";
import { type ChosenProvider, Gateway } from "../../src/models/gateway.ts";
import type { ModelSettings, ModelTurn } from "../../src/models/model-request.ts";
import { Prices } from "../../src/models/prices.ts";
import type { Provider } from "../../src/models/provider.ts";
import { type Refusal, unconfigured } from "../../src/models/refusal.ts";
import type { Wire } from "../../src/models/wires/wire.ts";
import { KeyEndpoint } from "../../src/providers/endpoints/key.ts";
import { Upstream } from "../../src/providers/upstream.ts";

// A guest's end of an uplink to the real gateway, and providers that speak their real protocol.

const mock = new LLMock({ port: 0 });
export let mockUrl: string;
const closing: (() => void)[] = [];

beforeAll(async () => {
  mockUrl = await mock.start();
  mock.onMessage("hello", { content: "Hello from the mock model." });
  // Its first answer takes longer than a provider may be silent here.
  const body = JSON.stringify(hello);
  await fetch(`${mockUrl}/v1/messages`, { method: "POST", headers: { "content-type": "application/json" }, body });
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

/** Short, so that faults show at once. */
const silenceMs = 1_000;
const retryMs = 1_500;

/** A turn that records what the gateway reports. */
export class NotedTurn implements ModelTurn {
  readonly settings: ModelSettings;
  readonly #interruption = new AbortController();
  readonly interrupted = this.#interruption.signal;
  readonly tokens: TokenCounts[] = [];
  readonly refusals: { code: string; message: string; recoverable: boolean }[] = [];
  readonly fallbacks: string[] = [];
  answers = 0;
  microCredits = 0;
  /** A tool runs, so a refusal does not end it. */
  readonly toolRuns: boolean;

  constructor(settings: Partial<ModelSettings> = {}, toolRuns = false) {
    this.settings = { model: null, fallbackModels: [], instructions: null, ...settings };
    this.toolRuns = toolRuns;
  }

  callModel(): Disposable {
    return { [Symbol.dispose]: () => {} };
  }

  asked(): void {}

  async fellBack(from: string, to: string, { code }: { code: string }): Promise<void> {
    this.fallbacks.push(`${from} > ${to}: ${code}`);
  }

  called(): null {
    return null;
  }

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

  /** The sum of all reported tokens. */
  get sum(): TokenCounts {
    const sum: Record<string, number> = {};
    for (const each of this.tokens) {
      for (const [name, value] of Object.entries(each)) sum[name] = (sum[name] ?? 0) + value;
    }
    return sum;
  }
}

export interface Asking {
  turn: ModelTurn | null;
  settings: Partial<ModelSettings>;
  payer: Payer;
  prices: Prices;
  hostedTools: string[];
  providers: Providers;
  /** The provider of all calls. */
  chosen: ChosenProvider;
  reachesAll: boolean;
}

/** In micro-credits per million tokens, so that a token costs whole micro-credits. */
export const wholePrice = {
  input: 1e6,
  output: 10e6,
  cacheRead: 0,
  cacheWrite: 2e6,
  cacheWriteHour: 2e6,
  inputAudio: 1e6,
  outputAudio: 10e6,
  webSearch: 0,
};
const wholePrices = new Prices({ "anthropic/*": wholePrice, "openai/*": wholePrice, "google/*": wholePrice });

/** Credits in memory, with the rules of the ledger. */
export class Purse implements Payer {
  /** Micro-credits that nobody holds. */
  left: number;
  held = 0;
  /** The result of `hasPlenty`. */
  rich = false;
  /** A hold waits for it. */
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

interface Providers {
  anthropic?: Provider;
  openai?: Provider;
  google?: Provider;
}

/** A guest's uplink to a gateway with these providers. */
export function uplinkTo(providers: Providers, asking: Partial<Asking> = {}): Promise<ClientHttp2Session> {
  return uplinkOf(gatewayOf(asking), { ...asking, providers });
}

export function gatewayOf({ prices = wholePrices, hostedTools = [] }: Partial<Asking> = {}): Gateway {
  return new Gateway({
    prices,
    hostedTools,
    silenceMs,
    retryMs,
    metrics: null,
    warn: () => {},
  });
}

export async function uplinkOf(
  gateway: Gateway,
  { turn = null, settings = {}, payer = new Purse(), reachesAll = true, providers = {}, chosen }: Partial<Asking> = {},
): Promise<ClientHttp2Session> {
  const [guest, server] = await socketPair();
  gateway.serve(server, {
    id: "agent-1",
    account: async () => "account-1",
    settings: async () => ({ model: null, fallbackModels: [], instructions: null, ...settings }),
    turn: () => turn,
    provider: async (wire, model) => chosen ?? choose(providers, wire, model),
    payer: () => payer,
    mayReachAll: async () => reachesAll,
  });
  const session = connect("http://berth", { createConnection: () => guest });
  session.on("error", () => {});
  closing.push(() => session.destroy());
  return session;
}

/** As the service chooses. */
function choose(providers: Providers, { provider }: Wire, model: string | null): ChosenProvider | Refusal {
  if (model?.startsWith("demo/") || Object.keys(providers).length === 0) return demoProvider;
  const ask = providers[provider];
  if (!ask) return unconfigured(provider);
  return { name: provider, kind: provider, baseUrl: null, framing: null, isOwn: false, ask };
}

export function anthropic(baseUrl: string): Provider {
  return upstream("anthropic", baseUrl);
}

export function upstream(name: "anthropic" | "openai" | "google", baseUrl: string): Provider {
  const made = new Upstream(new KeyEndpoint(name, baseUrl, "the-key"));
  closing.push(() => void made.close());
  return made.ask;
}

export async function post(session: ClientHttp2Session, path: string, body: unknown, method = "POST") {
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

export const hello = { model: "claude-any", max_tokens: 100, messages: [{ role: "user", content: "hello" }] };

/** A provider's server that gives these answers in order and repeats the last. */
export async function scripted(...answers: ((response: ServerResponse) => void)[]) {
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

/** Refuses in a provider's format. */
export function refusing(status: number, message: string, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => {
    response.writeHead(status, { "content-type": "application/json", "set-cookie": "a=b", ...headers });
    response.end(JSON.stringify({ type: "error", error: { type: "some_error", message } }));
  };
}

export function sse(...events: object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

export const beginning = sse(
  { type: "message_start", message: { usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 } } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } },
);
export const ending = sse({ type: "message_delta", usage: { output_tokens: 7 } }, { type: "message_stop" });

export function streaming(events: string, then: (response: ServerResponse) => void = (response) => response.end()) {
  return (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(events, () => then(response));
  };
}

/** `hello`, streamed, with at most this many output tokens. */
export const streamed = (max_tokens = 100) => ({ ...hello, max_tokens, stream: true });

export const word = (text: string) =>
  sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
