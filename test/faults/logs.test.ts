import { afterAll, beforeAll, expect, test } from "vitest";
import { KillableService } from "../support/killable-service.ts";

let service: KillableService;
beforeAll(async () => {
  service = await KillableService.start({ logLevel: "trace" });
});
afterAll(() => service[Symbol.asyncDispose]());

test("the log tells each request and turn by its id, and never a key, a message, a reply or an instruction", async () => {
  const { client } = service;
  const secrets = ["canary-of-the-message", "canary-of-the-instructions", "canary-of-the-header", client.key.slice(9)];
  await client.createAgent("ada", { instructions: `Never tell ${secrets[1]}.` });
  const reply = await client.chat("ada", secrets[0]!);
  expect(reply.text).toContain(secrets[0]);
  await client.call("GET", "/agents/ada", undefined, { "x-any": secrets[2]!, cookie: secrets[2]! });
  await client.call("POST", "/agents/ada/chat", { message: secrets[0], unknown: secrets[0] });
  await client.call("GET", "/agents", undefined, { authorization: `Bearer ${client.key}x` });
  const [machine] = await service.running();
  await service.killMachine(machine!); // A loss is logged, too.
  expect(await client.ask("ada", secrets[0]!)).toContain(secrets[0]);
  const { headers } = await client.call("GET", "/agents/ada");

  await service.server.end("SIGTERM");
  const written = service.server.lines;
  for (const secret of secrets) expect(written.join("\n")).not.toContain(secret);
  const lines = written
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.find(({ reqId }) => reqId === headers.get("x-request-id"))).toMatchObject({ msg: "request" });
  const ofTurn = lines.filter(({ turnId }) => turnId === reply.turnId);
  expect(ofTurn.map(({ msg }) => msg)).toEqual(["turn begun", "turn ended"]);
  expect(ofTurn[1]).toMatchObject({ outcome: "completed" });
});
