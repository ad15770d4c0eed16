import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import type { ChosenProvider } from "../../src/models/gateway.ts";
import {
  gatewayOf,
  NotedTurn,
  Purse,
  post,
  refusing,
  scripted,
  sse,
  streaming,
  uplinkOf,
  uplinkTo,
  upstream,
} from "../support/model-gateway.ts";

// Google's Gemini API through the real gateway.

const models = "/google/v1beta/models";
const whole = `${models}/gemini-3-pro:generateContent`;
const stream = `${models}/gemini-3-pro:streamGenerateContent?alt=sse`;
const asked = { contents: [{ role: "user", parts: [{ text: "hello" }] }] };

function said(text: string, usageMetadata: object = {}, finishReason?: string) {
  return { candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason }], usageMetadata };
}
const beginning = sse(said("Hel", { promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 1 }));
const usage = { promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 5, thoughtsTokenCount: 7 };
const ending = sse(said("lo.", { ...usage, toolUsePromptTokenCount: 20 }, "STOP"));

function json(body: object | string) {
  return (response: import("node:http").ServerResponse) =>
    void response
      .writeHead(200, { "content-type": "application/json" })
      .end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Google's refusals. */
function refused(code: number, message: string, details: object[] = []) {
  return (response: import("node:http").ServerResponse) =>
    void response
      .writeHead(code, { "content-type": "application/json" })
      .end(JSON.stringify([{ error: { code, message, details } }]));
}

const google = (url: string) => upstream("google", `${url}/v1beta`);

test("a call reaches Google's own API with the provider's key and none of the guest's", async () => {
  const { url, requests } = await scripted(json(said("Hello.", {}, "STOP")), streaming(beginning + ending));
  const session = await uplinkTo({ google: google(url) }, { settings: { instructions: "Be kind." } });
  const answer = await post(session, `${whole}?key=from-the-guest`, {
    ...asked,
    model: "models/another",
    labels: { session: "of-the-template" },
    service_tier: "priority",
    system_instruction: { role: "user", parts: [{ text: "You are X." }] },
  });
  expect([answer.status, JSON.parse(answer.text).candidates[0].content.parts[0].text]).toEqual([200, "Hello."]);
  const streamed = await post(session, `${stream}&key=from-the-guest`, asked);
  expect(streamed.text).toBe(beginning + ending);
  expect(requests.map(({ path }) => path)).toEqual([
    "/v1beta/models/gemini-3-pro:generateContent",
    "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
  ]);
  expect(requests[0]!.headers["x-goog-api-key"]).toBe("the-key");
  expect(JSON.stringify(requests)).not.toMatch(/from-the-guest|of-the-template|another/);
  expect(requests[0]!.body).toEqual({
    ...asked,
    service_tier: "standard",
    systemInstruction: { role: "user", parts: [{ text: "You are X." }, { text: "Be kind." }] },
  });
  expect(requests[1]!.body).toEqual({ ...asked, systemInstruction: { parts: [{ text: "Be kind." }] } });
});

test("tokens are counted without an answer, and for free", async () => {
  const { url, requests } = await scripted(json({ totalTokens: 31 }));
  const payer = new Purse();
  const session = await uplinkTo({ google: google(url) }, { payer, settings: { instructions: "Be kind." } });
  const path = `${models}/gemini-3-pro:countTokens`;
  expect(JSON.parse((await post(session, path, asked)).text)).toEqual({ totalTokens: 31 });
  await post(session, path, { generateContentRequest: { ...asked, model: "models/another" } });
  expect(requests.map(({ body }) => body)).toEqual([
    asked,
    {
      generateContentRequest: {
        ...asked,
        model: "models/gemini-3-pro",
        systemInstruction: { parts: [{ text: "Be kind." }] },
      },
    },
  ]);
  expect(payer.paid).toEqual([]);
});

test.each([
  ["streamed", stream, streaming(beginning + ending)],
  ["whole", whole, json(said("Hello.", { ...usage, toolUsePromptTokenCount: 20 }, "STOP"))],
])("a %s answer is charged by Google's counts, thoughts as output", async (_name, path, answers) => {
  const { url } = await scripted(answers);
  const payer = new Purse();
  const turn = new NotedTurn();
  await post(await uplinkTo({ google: google(url) }, { payer, turn }), path, asked);
  await expect.poll(() => payer.paid).toHaveLength(1);
  expect(payer.paid[0]).toEqual({
    model: "google/gemini-3-pro",
    // 26 input tokens at 1, 12 output tokens at 10; cached ones are free here.
    micro: 146,
    tokens: { input: 30, output: 12, cacheRead: 4, reasoning: 7 },
  });
  expect(payer.held).toBe(0);
});

test("sound is counted, and an answer without counts by its size", async () => {
  const sound = [
    { modality: "TEXT", tokenCount: 3 },
    { modality: "AUDIO", tokenCount: 6 },
  ];
  const call = { functionCall: { name: "run", args: { command: "uname -a" } } };
  const { url } = await scripted(
    json(said("Hello.", { promptTokenCount: 9, candidatesTokenCount: 1, promptTokensDetails: sound }, "STOP")),
    streaming(sse({ candidates: [{ content: { parts: [call] }, finishReason: "STOP" }] })),
  );
  const payer = new Purse();
  const session = await uplinkTo({ google: google(url) }, { payer });
  await post(session, whole, asked);
  await post(session, stream, asked);
  await expect.poll(() => payer.paid).toHaveLength(2);
  expect(payer.paid[0]!.tokens).toMatchObject({ input: 9, inputAudio: 6, output: 1 });
  expect(payer.paid[1]!.tokens.output).toBe(Math.ceil(JSON.stringify(call.functionCall.args).length / 4));
});

test("a whole answer is held for as far as the request allows", async () => {
  const { url } = await scripted(json(said("Hello.", usage, "STOP")));
  const generationConfig = { maxOutputTokens: 1_000, candidateCount: 3 };
  const short = await uplinkTo({ google: google(url) }, { payer: new Purse(29_999) });
  expect((await post(short, whole, { ...asked, generationConfig })).status).toBe(402);
  const enough = await uplinkTo({ google: google(url) }, { payer: new Purse(31_000) });
  expect((await post(enough, whole, { ...asked, generationConfig })).status).toBe(200);
});

test.each([
  ["POST", "/google/v1beta/models/../../v1/secrets:generateContent"],
  ["POST", "/google/v1beta/models/..%2F..%2Ffiles:generateContent"],
  ["POST", "/google/v1beta/models/a%5Cb:generateContent"],
  ["POST", "/google/v1beta/models/a%00b:generateContent"],
  ["POST", "/google/v1beta/models/%E0%A4%A:generateContent"],
  ["POST", "/google/v1beta/models/:generateContent"],
  ["POST", "/google/v1beta/models/{model}:generateContent"],
  ["POST", `/google/v1beta/models/${"m".repeat(201)}:generateContent`],
  ["POST", "/google/v1beta/models/gemini-3-pro:embedContent"],
  ["POST", "/google/v1beta/tunedModels/mine:generateContent"],
  ["POST", "/google/v1beta/cachedContents"],
  ["GET", "/google/v1beta/models/gemini-3-pro:generateContent"],
  ["GET", "/google/v1beta/models"],
])("%s %s is not offered to agents", async (method, path) => {
  const { url, requests } = await scripted(refusing(500, "reached"));
  const answer = await post(await uplinkTo({ google: google(url) }), path, asked, method);
  expect([answer.status, JSON.parse(answer.text).error]).toEqual([
    404,
    { code: 404, status: "NOT_FOUND", message: expect.stringMatching(/not available to agents/) },
  ]);
  expect(requests).toEqual([]);
});

test("a stream that is not of server-sent events is refused", async () => {
  const { url } = await scripted(refusing(500, "reached"));
  const answer = await post(await uplinkTo({ google: google(url) }), stream.replace("?alt=sse", ""), asked);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("add ?alt=sse")]);
});

const retryInfo = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" };
const quota = "You exceeded your current quota, please check your plan and billing details.";

test.each([
  ["a 400", refused(400, "The input token count exceeds the maximum"), "model_request_refused", /token count/],
  ["a wrong key", refused(400, "API key not valid. Please pass a valid API key."), "model_credentials_refused", /key/],
  ["403", refused(403, "Permission denied on the-key"), "model_credentials_refused", /\(403\)\.$/],
  ["404", refused(404, "models/x is not found"), "model_not_available", /is not found/],
  ["429 with a delay", refused(429, quota, [retryInfo]), "model_rate_limited", /again in 35 s/],
  ["429 for good", refused(429, quota), "model_unpaid", /payment.*exceeded/],
  ["503", refused(503, "The model is overloaded."), "model_overloaded", /overloaded/],
  ["silence", () => {}, "model_stalled", /nothing for 1 s/],
  ["half an answer", streaming(beginning, (response) => response.destroy()), "model_interrupted", /was cut off/],
  ["an answer without an end", streaming(beginning), "model_interrupted", /was cut off/],
  ["garbage", json("<html>]}"), "model_interrupted", /was cut off/],
  ["a list", json('[{"candidates":[]}]'), "model_interrupted", /was cut off/],
  ["half an answer and silence", streaming(beginning, () => {}), "model_stalled", /nothing for/],
  [
    "an error within the answer",
    streaming(beginning + sse({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } })),
    "model_overloaded",
    /overloaded/,
  ],
])("%s ends the turn with its reason", async (what, answers, code, message) => {
  const { url } = await scripted(answers);
  const turn = new NotedTurn();
  const session = await uplinkTo({ google: google(url) }, { turn });
  turn.interrupted.addEventListener("abort", () => setTimeout(() => session.destroy(new Error("interrupted")), 50));
  const answer = await post(session, stream, asked).catch((error: Error) => error);
  expect(turn.refusals).toEqual([{ code, message: expect.stringMatching(message), recoverable: what === "a 400" }]);
  expect(JSON.stringify(answer)).not.toContain("the-key");
});

test("a prompt that Google blocks is a complete answer", async () => {
  const blocked = { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 9 } };
  const { url } = await scripted(streaming(sse(blocked)));
  const turn = new NotedTurn();
  expect((await post(await uplinkTo({ google: google(url) }, { turn }), stream, asked)).text).toBe(sse(blocked));
  expect([turn.refusals, turn.sum.input]).toEqual([[], 9]);
});

test("a guest that hangs up pays for what has come", async () => {
  const { url } = await scripted(streaming(beginning, () => {}));
  const payer = new Purse();
  const session = await uplinkTo({ google: google(url) }, { payer });
  const call = session.request({ ":method": "POST", ":path": stream });
  call.end(JSON.stringify(asked));
  await once(call, "data");
  call.close();
  await expect.poll(() => payer.paid).toHaveLength(1);
  expect(payer.paid[0]!.tokens).toMatchObject({ input: 10, output: 1 });
});

test("a fallback's name takes the place of the path's, also one with other characters", async () => {
  const { url, requests } = await scripted(refusing(503, "busy"), streaming(beginning + ending));
  const turn = new NotedTurn({ model: "google/gemini-3-pro", fallbackModels: ["google/tuned/one"] });
  await post(await uplinkTo({ google: google(url) }, { turn }), stream, asked);
  expect(requests.map(({ path }) => path.replace(/^.*models/, ""))).toEqual([
    "/gemini-3-pro:streamGenerateContent?alt=sse",
    "/tuned%2Fone:streamGenerateContent?alt=sse",
  ]);
  expect(turn.fallbacks).toEqual(["google/gemini-3-pro > google/tuned/one: model_overloaded"]);
});

const remote: [object, string, boolean][] = [
  [{ tools: [{ googleSearch: {} }] }, "google_search", false],
  [{ tools: [{ google_search: {} }] }, "google_search", false],
  [{ tools: [{ googleMaps: {} }] }, "google_maps", false],
  [{ tools: [{ somethingNew: {} }] }, "something_new", false],
  [{ cachedContent: "cachedContents/1" }, "cached_content", false],
  [{ tools: [{ codeExecution: {} }] }, "code_execution", true],
  [{ tools: [{ functionDeclarations: [] }, { urlContext: {} }] }, "url_context", true],
  [{ contents: [{ parts: [{ fileData: { fileUri: "https://example.com/x" } }] }] }, "remote_files", true],
  [
    { contents: [{ parts: [{ functionResponse: { parts: [{ file_data: { file_uri: "gs://x" } }] } }] }] },
    "remote_files",
    true,
  ],
];

test.each(remote)("%j needs egress to everything, and a price", async (fields, name, isPriced) => {
  const { url } = await scripted(json(said("Hello.", usage, "STOP")));
  const narrow = await uplinkTo({ google: google(url) }, { reachesAll: false });
  const answer = await post(narrow, whole, { ...asked, ...fields });
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(name)]);
  const wide = await uplinkTo({ google: google(url) });
  expect((await post(wide, whole, { ...asked, ...fields })).status).toBe(isPriced ? 200 : 400);
});

test("a provider without Google's API is named to the guest in Google's shape", async () => {
  const session = await uplinkTo({ openai: upstream("openai", "http://127.0.0.1:1") });
  const { error } = JSON.parse((await post(session, whole, asked)).text);
  expect(error).toEqual({ code: 404, message: "There is no provider google here.", status: "NOT_FOUND" });
});

test("an own provider counts for nothing", async () => {
  const { url } = await scripted(json(said("Hello.", usage, "STOP")));
  const chosen: ChosenProvider = {
    ...{ name: "google", kind: "google", baseUrl: null, framing: null, isOwn: true },
    ask: google(url),
  };
  const turn = new NotedTurn();
  await post(await uplinkOf(gatewayOf(), { chosen, turn }), whole, asked);
  await expect.poll(() => turn.sum.output).toBe(12);
  expect(turn.microCredits).toBe(0);
});

describe("the demonstration model", () => {
  let server: DemoServer;
  beforeAll(async () => {
    server = await DemoServer.start();
  });
  afterAll(() => server[Symbol.dispose]());

  const tools = [{ functionDeclarations: [{ name: "run_shell_command" }, { name: "mcp_tools_add" }] }];

  /** The parts of an answer, joined if it streams, and its last counts. */
  async function ask(contents: object[], isStreamed: boolean) {
    const operation = isStreamed ? "streamGenerateContent?alt=sse" : "generateContent";
    const response = await fetch(`${server.url}/v1beta/models/any:${operation}`, {
      method: "POST",
      body: JSON.stringify({ contents, tools }),
    });
    const text = await response.text();
    const events = isStreamed
      ? text
          .trim()
          .split("\n\n")
          .map((event) => event.slice("data: ".length))
      : [text];
    const answers = events.map((event) => JSON.parse(event));
    const parts = answers.flatMap(({ candidates }) => candidates[0].content.parts);
    return {
      text: parts.map(({ text = "" }) => text).join(""),
      call: parts[0].functionCall,
      end: answers.at(-1).candidates[0].finishReason,
      tokens: answers.at(-1).usageMetadata.candidatesTokenCount,
    };
  }

  test.each([true, false])("speaks, remembers and calls tools over Google's API, streamed %s", async (isStreamed) => {
    const say = (text: string) => ({ role: "user", parts: [{ text }] });
    const first = await ask([say("I am Ada.")], isStreamed);
    expect(first).toMatchObject({ text: expect.stringContaining("“I am Ada.”"), end: "STOP" });
    expect(first.tokens).toBeGreaterThan(10);
    const call = { name: "run_shell_command", args: { command: "date" } };
    expect((await ask([say("run: date")], isStreamed)).call).toMatchObject(call);
    expect((await ask([say('use: add {"a": 1}')], isStreamed)).call).toMatchObject({ name: "mcp_tools_add" });
    const result = { functionResponse: { name: call.name, response: { output: "Monday" } } };
    const after = [
      say("run: date"),
      { role: "model", parts: [{ functionCall: call }] },
      { role: "user", parts: [result] },
    ];
    expect((await ask(after, isStreamed)).text).toContain("printed:\n\n```\nMonday\n```");
  });

  test("counts tokens, and refuses what is no request in Google's shape", async () => {
    const post = (operation: string, body: string) =>
      fetch(`${server.url}/v1beta/models/any:${operation}`, { method: "POST", body });
    expect(await (await post("countTokens", JSON.stringify(asked))).json()).toEqual({
      totalTokens: expect.any(Number),
    });
    const unanswered = JSON.stringify({
      contents: [{ role: "model", parts: [{ functionCall: { name: "x" } }] }, ...asked.contents],
    });
    for (const body of ["nonsense", "[]", "{}", unanswered]) {
      const answer = await post("generateContent", body);
      expect([answer.status, ((await answer.json()) as { error: { status: string } }).error.status]).toEqual([
        400,
        "INVALID_ARGUMENT",
      ]);
    }
  });
});
