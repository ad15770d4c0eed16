import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { runtimes } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Files that turns of the real runtimes change. Each runtime is a process of this host.

let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start({}, { runtimes, packages: await guestPackages() });
  client = service.client;
});
afterAll(() => service[Symbol.asyncDispose]());

describe.each(runtimes.map(({ name }) => name))("%s", (runtime) => {
  const agent = `changing-${runtime}`;
  const changesOf = async (message: string) => {
    const { turnId } = await client.chat(agent, message);
    return (await client.call("GET", `/agents/${agent}/turns/${turnId}/changes`)).body;
  };

  beforeAll(() => client.createAgent(agent, { runtime }));

  test("the files of its tools are listed, and none of its own state", async () => {
    expect((await changesOf("run: mkdir -p src && printf 'one\\ntwo\\n' > src/a.txt")).files).toMatchObject([
      { name: "src/a.txt", change: "created", size: 8, diff: "@@ -0,0 +1,2 @@\n+one\n+two\n" },
    ]);
    expect((await changesOf("run: sed -i s/two/2/ src/a.txt && touch b.txt")).files).toMatchObject([
      { name: "b.txt", change: "created", size: 0 },
      { name: "src/a.txt", change: "changed", diff: "@@ -1,2 +1,2 @@\n one\n-two\n+2\n" },
    ]);
    expect((await changesOf("Only say something.")).files).toEqual([]);
  });
});
