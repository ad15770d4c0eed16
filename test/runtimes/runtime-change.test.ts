import { afterAll, beforeAll, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import type { TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ModelProxy, systemOf } from "../support/model-proxy.ts";
import { modelOf, providersAt, realModels, runtimes } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The real runtimes, each as a process of this host: every one of them continues the conversation of every other.

let provider: DemoServer;
let proxy: ModelProxy;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  provider = await DemoServer.start(realModels);
  proxy = await new ModelProxy(provider.url).listen();
  service = await ScriptedService.start(providersAt(proxy.url), { runtimes, packages: await guestPackages() });
  client = service.client;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  provider[Symbol.dispose]();
});

/** Each ordered pair of two, once, in one walk: from each to all later ones and back, at last to the first. */
const names = runtimes.map(({ name }) => name);
const walk = [
  ...names.flatMap((name, index) => [name, ...names.slice(index + 2).flatMap((later) => [later, name])]),
  ...names.toReversed().slice(1),
];

test(`in all directions (${walk.join(", ")}) files and what was said stay`, { timeout: 900_000 }, async () => {
  await client.createAgent("ada", { runtime: walk[0], model: modelOf(walk[0]!) });
  expect(await client.ask("ada", "My cat is called Miez.")).not.toBe("");
  expect(await client.ask("ada", "run: echo kept > note.txt && cat note.txt")).toContain("kept");
  for (const [index, runtime] of walk.slice(1).entries()) {
    const changed = await client.call("PATCH", "/agents/ada?wait=ready", { runtime, model: modelOf(runtime) });
    expect(changed.body).toMatchObject({ runtime, conversation: index + 2 });
    const message = `I moved to ${runtime}, time ${index}.`;
    expect(await client.ask("ada", message)).not.toBe("");
    const { body } = proxy.asked.findLast((request) => JSON.stringify(request.body).includes(message))!;
    expect(systemOf(body)).toContain("User: My cat is called Miez.");
    // Each of the earlier ones is repeated once, and this one is a message.
    for (let earlier = 0; earlier < index; earlier++) {
      expect(systemOf(body)!.split(`User: I moved to ${walk[earlier + 1]}, time ${earlier}.`)).toHaveLength(2);
    }
    expect(await client.ask("ada", "run: cat note.txt")).toContain("kept");
  }
});
