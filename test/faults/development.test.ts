import { readdir, readFile, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { TestClient } from "../support/client.ts";
import { testConfig } from "../support/config.ts";
import { ProcessDriver } from "../support/process-driver.ts";
import { ServerProcess } from "../support/server-process.ts";

// The server of `make dev`.

test("agents survive a restart after a change, and end with the server", async () => {
  const { dataFolder } = await testConfig();
  const machines = join(dataFolder, "machines");
  await using _ = { [Symbol.asyncDispose]: () => rm(dataFolder, { recursive: true, force: true, maxRetries: 10 }) };
  await using server = new ServerProcess(dataFolder, { BERTH_PORT: `${await freePort()}` }, ["scripts/dev/main.ts"]);
  const url = await server.url();
  const client = await TestClient.ofOperator(url, dataFolder);
  await client.createAgent("ada");
  expect(await client.ask("ada", "run: echo $((6 * 7)) > answer; cat answer")).toContain("42");

  const now = new Date();
  await utimes("scripts/dev/server.ts", now, now);
  await expect.poll(() => server.lines.filter((line) => line === `Berth is ready at ${url}`)).toHaveLength(2);
  expect(await client.ask("ada", "What did I say?")).toContain("Before that you said: “run: echo");

  await server.end("SIGTERM");
  expect(await new ProcessDriver(machines).list()).toMatchObject([{ phase: "stopped" }]);
  const [home] = await readdir(machines);
  expect(await readFile(join(machines, home!, "answer"), "utf8")).toBe("42\n");
});
