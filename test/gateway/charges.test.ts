import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { BerthError } from "../../src/contract/errors.ts";
import type { Payer } from "../../src/models/charge.ts";
import { Prices } from "../../src/models/prices.ts";
import type { Provider } from "../../src/models/provider.ts";
import {
  anthropic,
  beginning,
  ending,
  hello,
  mockUrl,
  NotedTurn,
  Purse,
  post,
  refusing,
  scripted,
  sse,
  streamed,
  streaming,
  uplinkTo,
  upstream,
  word,
} from "../support/model-gateway.ts";

test("usage is charged by the provider's figures; no hold remains", async () => {
  const { url } = await scripted(streaming(beginning + ending));
  const purse = new Purse();
  const turn = new NotedTurn();
  const session = await uplinkTo({ anthropic: anthropic(url) }, { turn, payer: purse });
  await post(session, "/anthropic/v1/messages", streamed());
  await expect.poll(() => purse.paid).toHaveLength(1);
  const [{ model, micro, tokens }] = purse.paid as [(typeof purse.paid)[0]];
  expect(model).toBe("anthropic/claude-any");
  expect(tokens).toEqual({ input: 15, cacheRead: 5, output: 7 });
  // 10 input tokens at 1, 7 output tokens at 10; cached ones are free here.
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

test("a large balance avoids the wait, but nothing is sent before the hold", async () => {
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

test("a response is cut off when its credits run out", async () => {
  // Two thousand tokens; a purse of 15,000 pays for fewer than 1,500.
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
  // At most one chunk beyond the hold may go unpaid.
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

test("function inputs and refusals are charged after an early disconnect", async () => {
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
