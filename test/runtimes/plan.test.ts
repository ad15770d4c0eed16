import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { modelOf, runtimes } from "../support/real-runtimes.ts";
import { RuntimesService } from "../support/runtimes-service.ts";

// The plans of real runtimes, each as a process of this host, with the demonstration model.

let service: RuntimesService;
let client: TestClient;

beforeAll(async () => {
  service = await RuntimesService.start();
  ({ client } = service);
});
afterAll(() => service[Symbol.asyncDispose]());

/** The messages with which the model uses the runtime's own tool. */
const messages: Readonly<Record<string, readonly string[]>> = {
  "claude-code": [
    `use: ToolSearch ${JSON.stringify({ query: "select:TaskCreate,TaskUpdate", max_results: 5 })}`,
    `use: TaskCreate ${JSON.stringify({ subject: "Read", description: "Read all.", activeForm: "Reading" })}`,
    `use: TaskCreate ${JSON.stringify({ subject: "Test", description: "Run them.", activeForm: "Testing" })}`,
    `use: TaskUpdate ${JSON.stringify({ taskId: "1", status: "completed" })}`,
    `use: TaskUpdate ${JSON.stringify({ taskId: "2", status: "in_progress" })}`,
  ],
  opencode: [
    `use: todowrite ${JSON.stringify({
      todos: [
        { id: "1", content: "Read", status: "completed", priority: "high" },
        { id: "2", content: "Test", status: "in_progress", priority: "high" },
      ],
    })}`,
  ],
};

describe.each(runtimes.map(({ name }) => name).filter((name) => name in messages))("%s", (runtime) => {
  test("the steps that the agent plans are an event of the turn", async () => {
    const agent = `on-${runtime}`;
    await client.createAgent(agent, { runtime, model: modelOf(runtime) });
    let events: TurnEvent[] = [];
    for (const message of messages[runtime]!) {
      const response = await client.fetch("POST", `/agents/${agent}/chat`, { message, include: ["tools"] });
      events = [];
      for await (const { event } of eventsOf(response)) events.push(event);
    }
    const plans = events.filter((event) => event.type === "response.plan.updated");
    expect(plans.at(-1)?.steps, JSON.stringify(events)).toEqual([
      { text: "Read", status: "completed" },
      // Claude Code names the step that it works on in its own form.
      { text: runtime === "claude-code" ? "Testing" : "Test", status: "in_progress" },
    ]);
  });
});
