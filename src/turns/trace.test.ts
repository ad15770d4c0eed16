import { expect, test } from "vitest";
import { noUsage } from "../billing/usage.ts";
import type { Facts, Span } from "../telemetry/span.ts";
import { TurnTrace } from "./trace.ts";

/** Spans that note themselves, each once it has ended. */
class NotedSpan implements Span {
  readonly traceId = "";
  readonly traceparent = "";
  readonly name: string;
  readonly ended: NotedSpan[];
  facts: Facts;
  code: string | null = null;

  constructor(name = "turn", facts: Facts = {}, ended: NotedSpan[] = []) {
    this.name = name;
    this.facts = facts;
    this.ended = ended;
  }

  begin(name: string, facts: Facts = {}): Span {
    return new NotedSpan(name, facts, this.ended);
  }

  add(facts: Facts): void {
    this.facts = { ...this.facts, ...facts };
  }

  mark(): void {}

  end(code: string | null = null): void {
    this.code = code;
    this.ended.push(this);
  }
}

const started = (id: string) => ({ type: "response.tool_call.started", id, name: "canary" }) as const;

test("a guest that makes a thousand tool calls has two hundred spans, and the rest is counted", () => {
  const span = new NotedSpan();
  const trace = new TurnTrace(span);
  trace.sent();
  for (let n = 0; n < 1_000; n++) trace.heard(started(String(n)));
  for (let n = 0; n < 10; n++) trace.heard(started("0"));
  trace.ended("completed", "", noUsage);
  expect(span.ended.filter(({ name }) => name === "tool")).toHaveLength(200);
  expect(span.facts["berth.turn.parts_left_out"]).toBe(800);
  expect(JSON.stringify(span.ended.map(({ facts, name }) => [facts, name]))).not.toContain("canary");
});

test("an invalid model name is not traced", () => {
  const trace = new TurnTrace(new NotedSpan());
  const names = ["openai/gpt-5", "openai/org/model:free", "openai/a b", `openai/${"x".repeat(101)}`];
  const told = names.map(
    (name) => (trace.called({ id: name, kind: "openai", baseUrl: null }) as NotedSpan).facts["gen_ai.request.model"],
  );
  expect(told).toEqual(["gpt-5", "org/model:free", "other", "other"]);
});

test("a failed turn ends its open spans with its error", () => {
  const span = new NotedSpan();
  const trace = new TurnTrace(span);
  trace.wants();
  trace.ready();
  trace.sent();
  trace.heard(started("1"));
  trace.ended("failed", "machine_lost", noUsage);
  expect(span.ended.map(({ name, code }) => [name, code])).toEqual([
    ["machine", null],
    ["start", null],
    ["tool", "machine_lost"],
    ["guest", "machine_lost"],
    ["turn", "machine_lost"],
  ]);
});
