import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { modelOf, runtimes } from "../support/real-runtimes.ts";
import { RuntimesService } from "../support/runtimes-service.ts";

// The output of a running command, as real runtimes report it. Each is a process of this host.

let service: RuntimesService;
let client: TestClient;

beforeAll(async () => {
  service = await RuntimesService.start();
  ({ client } = service);
});
afterAll(() => service[Symbol.asyncDispose]());

/** Those that report the output before the command has ended. */
const reporting = ["codex", "openclaw", "opencode", "pi"];

describe.each(runtimes.map(({ name }) => name))("%s", (runtime) => {
  test("the output of a command is reported", async () => {
    const agent = `on-${runtime}`;
    await client.createAgent(agent, { runtime, model: modelOf(runtime) });
    const message = "run: for step in 1 2 3 4; do echo step $step of 4; sleep 1; done";
    const response = await client.fetch("POST", `/agents/${agent}/chat`, { message, include: ["tools"] });
    const outputs: [TurnEvent["type"], string][] = [];
    for await (const { event } of eventsOf(response)) {
      if (event.type.startsWith("response.tool_call.")) {
        outputs.push([event.type, JSON.stringify((event as { output?: unknown }).output ?? null)]);
      }
    }
    expect(outputs.at(-1)?.[1]).toContain("step 4 of 4");
    const before = outputs.filter(
      ([type, output]) => type === "response.tool_call.updated" && output.includes("step 2"),
    );
    expect(before.length > 0, JSON.stringify(outputs)).toBe(reporting.includes(runtime));
  });
});
