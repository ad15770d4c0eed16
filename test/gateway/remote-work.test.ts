import { afterEach, expect, test, vi } from "vitest";
import { Prices } from "../../src/models/prices.ts";
import {
  gatewayOf,
  hello,
  post,
  refusing,
  scripted,
  uplinkOf,
  uplinkTo,
  upstream,
  wholePrice,
} from "../support/model-gateway.ts";

const parts = (...content: object[]) => ({ model: "m", max_tokens: 9, messages: [{ role: "user", content }] });
const anthropicTool = (type: string) => ({ ...hello, tools: [{ type, name: "x" }] });
/** In the shapes of all three APIs. */
const answered = '{"type":"message","object":"response","choices":[{"finish_reason":"stop"}]}';

async function uplink(reachesAll: boolean, hostedTools: string[] = []) {
  const { url, requests } = await scripted((response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(answered),
  );
  const providers = { anthropic: upstream("anthropic", url), openai: upstream("openai", url) };
  return { session: await uplinkTo(providers, { reachesAll, hostedTools }), requests };
}

const messages = "/anthropic/v1/messages";
const chat = "/openai/v1/chat/completions";
const responses = "/openai/v1/responses";
const image = { type: "image_url", image_url: { url: "https://example.com/secret-in-the-query" } };

/** Path, request and the name by which it is refused: what is priced, and then what is not. */
const priced: [string, object, string][] = [
  [messages, anthropicTool("web_search_20250305"), "web_search"],
  [messages, anthropicTool("web_fetch_20250910"), "web_fetch"],
  [messages, { ...hello, mcp_servers: [{ type: "url", url: "https://mcp.example", name: "x" }] }, "mcp"],
  [messages, parts({ type: "image", source: { type: "url", url: "https://example.com/x" } }), "remote_files"],
  [
    messages,
    parts({ type: "tool_result", content: [{ type: "document", source: { type: "url", url: "https://e.com" } }] }),
    "remote_files",
  ],
  [
    messages,
    parts({
      type: "document",
      source: { type: "content", content: [{ type: "image", source: { type: "url", url: "https://e.com" } }] },
    }),
    "remote_files",
  ],
  [chat, parts(image), "remote_files"],
  [chat, parts({ type: "video_url", video_url: { url: "https://example.com/x.mp4" } }), "remote_files"],
  [
    responses,
    { model: "m", input: [{ type: "computer_call_output", output: { image_url: "https://example.com/x.png" } }] },
    "remote_files",
  ],
  [
    responses,
    { model: "m", input: [{ role: "user", content: [{ type: "input_file", file_url: "https://e.com" }] }] },
    "remote_files",
  ],
  [responses, { model: "m", input: "x", tools: [{ type: "mcp", server_url: "https://mcp.example" }] }, "mcp"],
];
const unpriced: [string, object, string][] = [
  [messages, anthropicTool("code_execution_20250825"), "code_execution"],
  [messages, anthropicTool("something_new"), "something_new"],
  [chat, { ...parts(), web_search_options: {} }, "web_search"],
  [responses, { model: "m", input: "x", tools: [{ type: "web_search_preview_2025_03_11" }] }, "web_search"],
  [chat, { ...parts(), model: "gpt-4o-search-preview" }, "web_search"],
  [chat, { ...parts(), model: "openai/gpt-5:online" }, "web_search"],
  [chat, { ...parts(), plugins: [{ id: "web" }] }, "web"],
  [responses, { model: "m", input: "x", tools: [{ type: "code_interpreter" }] }, "code_interpreter"],
  [responses, { model: "m", input: "x", tools: [{ type: "shell", environment: { type: "container_auto" } }] }, "shell"],
  [
    responses,
    { model: "m", input: [{ type: "additional_tools", tools: [{ type: "code_interpreter" }] }] },
    "code_interpreter",
  ],
  [responses, { model: "m", input: "x", prompt: { id: "pmpt_1" } }, "prompt"],
];

test("provider-side access is refused unless the policy allows everything", async () => {
  const { session, requests } = await uplink(false);
  for (const [path, request, name] of [...priced, ...unpriced]) {
    const refused = await post(session, path, request);
    expect([path, refused.status, refused.text]).toEqual([path, 400, expect.stringContaining(name)]);
  }
  expect(requests).toEqual([]);
});

test("an agent that may reach everything may use what is priced, and nothing else", async () => {
  const { session } = await uplink(true);
  for (const [path, request, name] of priced) {
    expect([name, (await post(session, path, request)).status]).toEqual([name, 200]);
  }
  for (const [path, request, name] of unpriced) {
    const refused = await post(session, path, request);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(`The price of ${name}`)]);
  }
});

test("the operator can allow a tool by name", async () => {
  const { session } = await uplink(false, ["code_execution", "remote_files"]);
  expect((await post(session, messages, anthropicTool("code_execution_20250825"))).status).toBe(200);
  expect((await post(session, chat, parts(image))).status).toBe(200);
  expect((await post(session, messages, anthropicTool("web_search_20250305"))).status).toBe(400);
});

test("tools that run in the machine, and files within the request, pass under any rules", async () => {
  const { session } = await uplink(false);
  const here = ["custom", "bash_20250124", "text_editor_20250728", "memory_20250818"].map((type) => ({
    type,
    name: type,
  }));
  const data = { type: "base64", media_type: "image/png", data: "aGVsbG8=" };
  const input = { type: "tool_use", id: "1", name: "fetch", input: { source: { type: "url", url: "https://e.com" } } };
  const request = {
    ...parts({ type: "image", source: data }, input, { type: "text", text: '{"source":{"type":"url"}}' }),
    tools: [...here, { name: "read", input_schema: {} }],
  };
  expect((await post(session, messages, request)).status).toBe(200);
  const inline = { type: "image_url", image_url: { url: "data:image/png;base64,aGVsbG8=" } };
  const functions = [{ type: "function", function: { name: "web_search" } }];
  expect((await post(session, chat, { ...parts(inline), tools: functions })).status).toBe(200);
  const local = [{ type: "shell" }, { type: "shell", environment: { type: "local" } }];
  expect((await post(session, responses, { model: "m", input: "x", tools: local })).status).toBe(200);
});

test("tiers, speeds and regions are the provider's standard ones, whatever the guest asks for", async () => {
  const { session, requests } = await uplink(true);
  await post(session, messages, { ...hello, service_tier: "auto", speed: "fast", inference_geo: "us" });
  await post(session, chat, { ...parts(), service_tier: "priority" });
  await post(session, responses, { model: "m", input: "x", service_tier: "flex" });
  await post(session, chat, { ...parts(), models: ["dear"] });
  expect(requests.at(-1)!.body).not.toHaveProperty("models");
  requests.pop();
  await post(session, messages, hello);
  const edits = [{ type: "clear_tool_uses_20250919" }, { type: "compact_20260112", instructions: "Work." }];
  await post(session, messages, { ...hello, fallbacks: [{ model: "dear" }], context_management: { edits } });
  expect(requests.at(-1)!.body).toMatchObject({ context_management: { edits: edits.slice(0, 1) } });
  expect(requests.at(-1)!.body).not.toHaveProperty("fallbacks");
  const [first, second, third, plain] = requests.map(({ body }) => body);
  expect(first).toMatchObject({ service_tier: "standard_only" });
  expect(Object.keys(first!)).toEqual(expect.not.arrayContaining(["speed", "inference_geo"]));
  expect([second!.service_tier, third!.service_tier, plain!.service_tier]).toEqual(["default", "default", undefined]);
});

test("a request of many values is read apart from all others; one of too many, or too deep, is refused", async () => {
  const { session, requests } = await uplink(true);
  const many = (count: number) => `{"model":"m","messages":[${"{},".repeat(count)}{}],"text":"[{,\\"\\\\"}`;
  for (const count of [0, 100_000]) expect((await post(session, messages, many(count))).status).toBe(200);
  expect((requests.at(-1)!.body.messages as unknown[]).length).toBe(100_001);
  for (const body of [many(600_000), `{"messages":${"[".repeat(1e5)}${"]".repeat(1e5)}}`]) {
    const refused = await post(session, messages, body);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("500000 JSON values and 200 levels")]);
  }
  expect((await post(session, "/anthropic/v1/messages/count_tokens", many(600_000))).status).toBe(400);
  expect((await post(session, messages, hello)).status).toBe(200);
});

test("a search is refused where the operator's own prices do not say what it costs", async () => {
  const { url } = await scripted((response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(answered),
  );
  const own = { ...wholePrice, webSearch: null };
  const prices = new Prices({ "anthropic/*": own });
  const session = await uplinkTo({ anthropic: upstream("anthropic", url) }, { reachesAll: true, prices });
  const refused = await post(session, messages, anthropicTool("web_search_20250305"));
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("price of web_search")]);
  expect((await post(session, messages, anthropicTool("web_fetch_20250910"))).status).toBe(200);
});

/** No time passes for the rate of calls, so that it is exceeded on a slow machine too. */
const stopTheClock = () => vi.useFakeTimers({ toFake: ["performance"] });
afterEach(() => void vi.useRealTimers());

test("an agent that sends too much is limited on all its connections", async () => {
  const { url } = await scripted(refusing(400, "no"));
  const gateway = gatewayOf();
  const providers = { anthropic: upstream("anthropic", url) };
  const large = { ...hello, system: "x".repeat(8 * 1024 * 1024) };
  stopTheClock();
  const statuses: number[] = [];
  for (let n = 0; n < 50 && !statuses.includes(429); n++)
    statuses.push((await post(await uplinkOf(gateway, { providers }), messages, large)).status);
  expect(statuses.at(-1)).toBe(429);
});

test("an agent that calls without end is rate limited", async () => {
  const { url } = await scripted(refusing(400, "no"));
  const session = await uplinkTo({ anthropic: upstream("anthropic", url) });
  const statuses: number[] = [];
  stopTheClock();
  for (let n = 0; n < 2_000 && !statuses.includes(429); n++)
    statuses.push((await post(session, messages, hello)).status);
  expect(statuses.at(-1)).toBe(429);
  expect(statuses.length).toBeGreaterThan(290);
  vi.useRealTimers();
  await expect.poll(async () => (await post(session, messages, hello)).status).toBe(400);
});

test("an answer in one piece that is too large to keep passes all the same, and is paid by its size", async () => {
  const piece = "x".repeat(1024 * 1024);
  const { url } = await scripted((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    for (let n = 0; n < 20; n++) response.write(piece);
    response.end();
  });
  const session = await uplinkTo({ anthropic: upstream("anthropic", url) });
  expect((await post(session, messages, hello)).text.length).toBe(20 * piece.length);
});
