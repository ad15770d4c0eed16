import type { ClientHttp2Session } from "node:http2";
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ChosenProvider } from "../../src/models/gateway.ts";
import { BedrockEndpoint } from "../../src/providers/endpoints/bedrock.ts";
import type { Endpoint } from "../../src/providers/endpoints/endpoint.ts";
import { VertexEndpoint } from "../../src/providers/endpoints/vertex.ts";
import type { Credential } from "../../src/providers/provider.ts";
import { Upstream } from "../../src/providers/upstream.ts";
import { gatewayOf, hello, Purse, post, uplinkOf } from "../support/model-gateway.ts";
import { BedrockServer, VertexServer } from "../support/provider-servers.ts";

// Anthropic's models at Bedrock and Vertex, through the real gateway, from servers that check signatures and tokens.

let bedrock: BedrockServer;
let vertex: VertexServer;

beforeAll(async () => {
  bedrock = await BedrockServer.start();
  vertex = await VertexServer.start();
});
beforeEach(() => {
  for (const server of [bedrock, vertex]) {
    server.received.length = 0;
    server.aheadMs = 0;
  }
  bedrock.exception = null;
});
afterAll(() => {
  bedrock?.[Symbol.dispose]();
  vertex?.[Symbol.dispose]();
});

const path = "/anthropic/v1/messages";
const model = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";

/** A guest's uplink to a gateway whose provider is this one. */
async function uplink(
  endpoint: Endpoint,
  kind: "bedrock" | "vertex",
  purse = new Purse(),
): Promise<ClientHttp2Session> {
  const upstream = new Upstream(endpoint);
  const provider: ChosenProvider = {
    ...{ name: "cloud", kind, baseUrl: null, framing: endpoint.framing, isOwn: false },
    ask: upstream.ask,
  };
  return uplinkOf(gatewayOf(), { chosen: provider, payer: purse });
}

const signed = (changes: Partial<Credential> = {}) =>
  new BedrockEndpoint(bedrock.region, bedrock.url, {
    accessKeyId: bedrock.accessKeyId,
    secretAccessKey: bedrock.secretAccessKey,
    ...changes,
  } as never);
const account = async () =>
  new VertexEndpoint(vertex.region, vertex.project, vertex.url, (await vertex.serviceAccount()) as never);

const say = { ...hello, model, metadata: { user_id: "somebody" }, service_tier: "auto" };

describe("Bedrock", () => {
  test("answers whole requests and streams in Anthropic's own framing", async () => {
    const session = await uplink(signed(), "bedrock");
    const whole = await post(session, path, say);
    expect([whole.status, JSON.parse(whole.text).role]).toEqual([200, "assistant"]);
    const streamed = await post(session, path, { ...say, stream: true });
    expect(streamed.headers["content-type"]).toBe("text/event-stream");
    expect(streamed.text).toMatch(/^event: message_start\ndata: \{.+\}\n\n/);
    expect(streamed.text).toMatch(/event: message_stop\ndata: .+\n\n$/);
    expect(bedrock.received.map(({ path }) => path)).toEqual([
      `/model/${encodeURIComponent(model)}/invoke`,
      `/model/${encodeURIComponent(model)}/invoke-with-response-stream`,
    ]);
  });

  test("is paid by its counts of tokens", async () => {
    const purse = new Purse();
    await post(await uplink(signed(), "bedrock", purse), path, { ...say, stream: true });
    await expect.poll(() => purse.paid.length).toBe(1);
    expect(purse.paid[0]).toMatchObject({ model: `cloud/${model}`, tokens: { output: expect.any(Number) } });
    expect(purse.paid[0]!.tokens.output).toBeGreaterThan(0);
  });

  test("takes an API key in place of a signature", async () => {
    const { apiKey } = bedrock;
    const session = await uplink(new BedrockEndpoint(bedrock.region, bedrock.url, { apiKey }), "bedrock");
    expect((await post(session, path, say)).status).toBe(200);
    const wrong = new BedrockEndpoint(bedrock.region, bedrock.url, { apiKey: "another" });
    expect((await post(await uplink(wrong, "bedrock"), path, say)).status).toBe(403);
  });

  test.each([-60, 60, 24 * 60])("follows a clock that is %i minutes ahead", async (minutes) => {
    bedrock.aheadMs = minutes * 60_000;
    const session = await uplink(signed(), "bedrock");
    expect((await post(session, path, say)).status).toBe(200);
    // The clock is known by then.
    expect((await post(session, path, { ...say, stream: true })).status).toBe(200);
  });

  test("refuses a wrong secret without the words of the refusal", async () => {
    const answer = await post(await uplink(signed({ secretAccessKey: "wrong" } as never), "bedrock"), path, say);
    expect(answer.status).toBe(403);
    expect(answer.text).not.toContain("signature");
  });

  test("passes on the betas that it accepts, and no others", async () => {
    const session = await uplink(signed(), "bedrock");
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "anthropic-beta": "interleaved-thinking-2025-05-14, claude-code-20250219",
    });
    stream.end(JSON.stringify(say));
    for await (const _ of stream);
    expect(bedrock.received[0]!.body.anthropic_beta).toEqual(["interleaved-thinking-2025-05-14"]);
  });

  test("an exception within a stream is an error of Anthropic's API", async () => {
    bedrock.exception = "throttlingException";
    const { text } = await post(await uplink(signed(), "bedrock"), path, { ...say, stream: true });
    expect(text).toContain('event: error\ndata: {"type":"error","error":{"type":"rate_limit_error"');
  });

  test("has no count of tokens", async () => {
    const { status, text } = await post(await uplink(signed(), "bedrock"), `${path}/count_tokens`, say);
    expect([status, JSON.parse(text).error.message]).toEqual([404, "The model's provider does not offer this call."]);
  });

  test("Anthropic's SDK reads a stream", async () => {
    const session = await uplink(signed(), "bedrock");
    const { text } = await post(session, path, { ...say, stream: true });
    const client = new Anthropic({
      apiKey: "none",
      fetch: async () => new Response(text, { headers: { "content-type": "text/event-stream" } }),
    });
    const message = await client.messages.stream(say as never).finalMessage();
    expect(message.content[0]).toMatchObject({ type: "text", text: expect.stringContaining("demonstration model") });
  });
});

describe("Vertex", () => {
  const named = { ...say, model: "claude-sonnet-4-5@20250929" };

  test("answers whole requests, streams, and counts tokens", async () => {
    const session = await uplink(await account(), "vertex");
    expect((await post(session, path, named)).status).toBe(200);
    expect((await post(session, path, { ...named, stream: true })).text).toContain("event: message_stop");
    expect(JSON.parse((await post(session, `${path}/count_tokens`, named)).text)).toEqual({
      input_tokens: expect.any(Number),
    });
    expect(vertex.received.map(({ path }) => path.split("/").at(-1))).toEqual([
      "claude-sonnet-4-5@20250929:rawPredict",
      "claude-sonnet-4-5@20250929:streamRawPredict",
      "count-tokens:rawPredict",
    ]);
  });

  test("answers for Google's models over Google's own API, with the same token", async () => {
    const purse = new Purse();
    const session = await uplink(await account(), "vertex", purse);
    const asked = { contents: [{ role: "user", parts: [{ text: "hello" }] }] };
    const models = "/google/v1beta/models/gemini-3-pro-preview";
    const whole = await post(session, `${models}:generateContent`, asked);
    expect(JSON.parse(whole.text).candidates[0].content.parts[0].text).toContain("demonstration model");
    const streamed = await post(session, `${models}:streamGenerateContent?alt=sse`, asked);
    expect(streamed.text).toContain('"finishReason":"STOP"');
    await expect.poll(() => purse.paid.length).toBe(2);
    expect(purse.paid[0]).toMatchObject({
      model: "cloud/gemini-3-pro-preview",
      tokens: { output: expect.any(Number) },
    });
    expect(vertex.received.map(({ path }) => path.split("/").slice(-3).join("/"))).toEqual([
      "google/models/gemini-3-pro-preview:generateContent",
      "google/models/gemini-3-pro-preview:streamGenerateContent?alt=sse",
    ]);
  });

  test("many calls at once ask for one token", async () => {
    const before = vertex.given;
    const session = await uplink(await account(), "vertex");
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(session, path, named)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(vertex.given - before).toBe(1);
  });

  test("a revoked token is replaced", async () => {
    const session = await uplink(await account(), "vertex");
    await post(session, path, named);
    vertex.tokens.clear();
    expect((await post(session, path, named)).status).toBe(200);
  });

  test.each([-60, 60])("follows a clock that is %i minutes ahead", async (minutes) => {
    vertex.aheadMs = minutes * 60_000;
    expect((await post(await uplink(await account(), "vertex"), path, named)).status).toBe(200);
  });

  test("an account that Google does not know is refused", async () => {
    const stranger = { ...(await vertex.serviceAccount()), client_email: "other@example.com" };
    const endpoint = new VertexEndpoint(vertex.region, vertex.project, vertex.url, stranger);
    expect((await post(await uplink(endpoint, "vertex"), path, named)).status).toBe(401);
    const broken = { ...stranger, private_key: "no key" };
    const other = new VertexEndpoint(vertex.region, vertex.project, vertex.url, broken);
    expect((await post(await uplink(other, "vertex"), path, named)).status).toBe(401);
  });
});
