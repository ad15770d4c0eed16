import { createRequire } from "node:module";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { ServerGroup } from "../support/server-group.ts";
import { type CollectedSpan, TraceCollector } from "../support/trace-collector.ts";

// A turn's trace, as a collector gets it.

/** The SDK's files that are loaded. The API the test runner loads, too. */
const loaded = () =>
  Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes("@opentelemetry/sdk-trace"));

let collector: TraceCollector;
beforeEach(async () => {
  process.env.OTEL_BSP_SCHEDULE_DELAY = "50";
  collector = await TraceCollector.start();
});
afterEach(() => collector[Symbol.asyncDispose]());

const clientsTrace = "0af7651916cd43dd8448eb211c80319c";
const traceparent = (flags: string) => ({ traceparent: `00-${clientsTrace}-b7ad6b7169203331-${flags}` });

/** The trace with these spans by name, once its turn is over and its request answered. */
async function traceOf(turnId: string, requests = 1): Promise<Map<string, CollectedSpan[]>> {
  const turn = () => collector.spans.find(({ facts }) => facts["berth.turn.id"] === turnId);
  await expect.poll(turn).toBeDefined();
  const { traceId } = turn()!;
  const isRequest = ({ kind }: CollectedSpan) => kind === 2;
  await expect.poll(() => collector.of(traceId).filter(isRequest).length).toBe(requests);
  return Map.groupBy(collector.of(traceId), ({ name }) => name);
}

function expectWithin(inner: CollectedSpan | undefined, outer: CollectedSpan | undefined): void {
  expect(inner!.parentSpanId).toBe(outer!.spanId);
  expect(inner!.start).toBeGreaterThanOrEqual(outer!.start);
}

test("without a collector's address nothing of OpenTelemetry is loaded, and with one it is", async () => {
  {
    await using service = await ScriptedService.start();
    await service.client.createAgent("ada");
    await service.client.chat("ada", "hello");
    expect(loaded()).toEqual([]);
  }
  await using _ = await ScriptedService.start({ traces: { url: collector.url, ratio: 1 } });
  expect(loaded()).not.toEqual([]);
});

test("a turn that goes through a standby is one trace over both servers, the gateway and the guest", async () => {
  await using group = await ServerGroup.start(2, { traces: { url: collector.url, ratio: 1 } });
  const leader = await group.leader();
  const [standby] = await group.others();
  await leader.client.createAgent("ada", { instructions: "canary of the instructions" });
  await leader.client.call("POST", "/agents/ada/suspend");
  const { turnId } = await standby!.client.chat("ada", "ask /anthropic/v1/messages canary of the message");
  const spans = await traceOf(turnId, 2);

  const requests = spans.get("POST /agents/{name}/chat")!;
  const outer = requests.find(({ parentSpanId }) => parentSpanId === "")!;
  const inner = requests.find(({ parentSpanId }) => parentSpanId !== "")!;
  const [[turn], [machine], [guest], [start], [model]] = ["turn", "machine", "guest", "start", "model"].map(
    (name) => spans.get(name) ?? [],
  ) as [CollectedSpan[], CollectedSpan[], CollectedSpan[], CollectedSpan[], CollectedSpan[]];
  for (const [part, whole] of [
    [inner, outer],
    [turn, inner],
    [machine, turn],
    [guest, turn],
    [start, guest],
    [model, guest],
  ]) {
    expectWithin(part, whole);
  }
  expect(outer.events).toContain("passed on");
  expect(outer.from).toMatchObject({
    "service.name": "berth",
    "service.instance.id": standby!.config.serverName,
  });
  expect(inner.from["service.instance.id"]).toBe(leader.config.serverName);
  expect(inner.facts["http.response.status_code"]).toBe(200);
  expect(turn!.facts).toMatchObject({ "berth.agent.status": "suspended", "berth.turn.outcome": "completed" });
  expect(turn!.events).toEqual(["first text"]);
  expect(model!.facts).toMatchObject({ "gen_ai.provider.name": "demo", "berth.model.outcome": "answered" });
  expect(model!.facts["gen_ai.usage.output_tokens"]).toBeGreaterThan(0);
  expect(collector.text).not.toMatch(/canary|"ada"|berth_/);
  expect(collector.text).not.toContain(leader.client.key);
});

test("a tool is a span without its name and input", async () => {
  await using service = await ScriptedService.start({ traces: { url: collector.url, ratio: 1 } });
  await service.client.createAgent("ada");
  const { turnId } = await service.client.chat("ada", "tool");
  const spans = await traceOf(turnId);
  expectWithin(spans.get("tool")![0], spans.get("guest")![0]);
  expect(collector.text).not.toMatch(/Bash|date|null character/);
});

test("a client's trace is continued; the client does not decide sampling", async () => {
  await using service = await ScriptedService.start({ traces: { url: collector.url, ratio: 1 } });
  await service.client.createAgent("ada");
  // Not sampled, says the client; all are kept here.
  const kept = await service.client.fetch("POST", "/agents/ada/chat", { message: "hello" }, traceparent("00"));
  await kept.text();
  const spans = await traceOf(kept.headers.get("x-turn-id")!);
  const [request] = spans.get("POST /agents/{name}/chat")!;
  expect([request!.traceId, request!.parentSpanId]).toEqual([clientsTrace, "b7ad6b7169203331"]);

  await using closed = await ScriptedService.start({ traces: { url: collector.url, ratio: 0 } });
  await closed.client.createAgent("ada");
  const before = collector.spans.length;
  for (const headers of [traceparent("01"), { traceparent: "nonsense" }, {}]) {
    await (await closed.client.fetch("POST", "/agents/ada/chat", { message: "hello" }, headers)).text();
  }
  await closed.server[Symbol.asyncDispose]();
  expect(collector.spans).toHaveLength(before);
});

test("a turn that outlives its server is handed on, and taken up in a trace of its own", async () => {
  await using service = await ScriptedService.start({ traces: { url: collector.url, ratio: 1 } });
  await service.client.createAgent("ada");
  const chat = await service.client.fetch("POST", "/agents/ada/chat", { message: "count 100 20" });
  const turnId = chat.headers.get("x-turn-id")!;
  await Promise.all([service.restart(), chat.text().catch(() => {})]);
  await service.client.events("ada", turnId);
  const turns = () => collector.spans.filter(({ facts }) => facts["berth.turn.id"] === turnId);
  await expect.poll(() => turns().length).toBe(2);
  const [first, second] = turns();
  expect(first!.facts["berth.turn.handed_on"]).toBe(true);
  expect(second!.facts).toMatchObject({ "berth.turn.taken_up": true, "berth.turn.outcome": "completed" });
  expect(second!.traceId).not.toBe(first!.traceId);
});

test("without a collector turns continue, one line logs it, and stops are quick", async () => {
  const url = `http://127.0.0.1:${await freePort()}/v1/traces`;
  await using group = await ServerGroup.start(1, { traces: { url, ratio: 1 } });
  const { client, process } = await group.leader();
  await client.createAgent("ada");
  for (let n = 0; n < 10; n++) expect(await client.ask("ada", "hello")).toBe("hello");
  await process.line(/traces are dropped/);
  expect(await process.end("SIGTERM")).toBe(0);
  expect(process.lines.filter((line) => line.includes("traces are dropped"))).toHaveLength(1);
});
