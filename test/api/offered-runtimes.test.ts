import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedService } from "../support/scripted-service.ts";

// The runtimes of new agents are those that the installation lists, and that its guest image has.

let service: ScriptedService;
beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada", { runtime: "openclaw" });
  await service.client.createAgent("bob", { runtime: "opencode" });
  Object.assign(service.config, { runtimes: ["opencode", "claude-code"] });
  await service.restart();
});
afterAll(() => service[Symbol.asyncDispose]());

const create = (fields: object) => service.client.call("POST", "/agents", fields);
const listed = async () =>
  (await service.client.call("GET", "/runtimes")).body.data.map(({ name }: { name: string }) => name);

test("only listed runtimes are offered, and the first is the default", async () => {
  expect(await listed()).toEqual(["opencode", "claude-code"]);
  const models = (await service.client.call("GET", "/models")).body.data;
  expect(models[0].runtimes).toEqual(["opencode", "claude-code"]);
  expect((await service.client.createAgent("eve")).body.runtime).toBe("opencode");
  expect((await create({ name: "fay", runtime: "openclaw" })).body).toMatchObject({
    code: "runtime_not_available",
    message: "This installation does not offer openclaw. Available: opencode, claude-code.",
    details: { available: ["opencode", "claude-code"] },
  });
  const unknown = "There is no runtime nothing. Available: opencode, claude-code.";
  expect((await create({ name: "fay", runtime: "nothing" })).body.message).toBe(unknown);
});

test("an agent of a runtime that is no longer listed continues, and may leave it for good", async () => {
  const { client } = service;
  expect(await client.ask("ada", "good morning")).toBe("good morning");
  expect((await client.call("POST", "/agents/ada/restart")).status).toBe(200);
  await expect.poll(async () => (await client.call("GET", "/agents/ada")).body.status).toBe("ready");
  expect(await client.ask("ada", "good evening")).toBe("good evening");
  expect((await client.call("PATCH", "/agents/ada", { instructions: "Be brief." })).status).toBe(200);
  const fork = await create({ name: "ann", from: { agent: "ada" } });
  expect(fork.body.code).toBe("runtime_not_available");
  expect((await client.call("PATCH", "/agents/ada", { runtime: "opencode" })).status).toBe(200);
  expect((await client.call("PATCH", "/agents/ada", { runtime: "openclaw" })).body.code).toBe("runtime_not_available");
});

test.skipIf(process.env.BERTH_TEST_PODS !== undefined)(
  "a runtime that the image lacks is not offered, and its agents have no newer image",
  async () => {
    const { client, driver } = service;
    const before = (await client.call("GET", "/agents/bob")).body.image;
    driver.imageId = "newer";
    expect((await client.call("GET", "/agents/bob")).body.image).toEqual({ ...before, upgradeAvailable: true });
    driver.runtimes = ["claude-code"];
    expect(await listed()).toEqual(["claude-code"]);
    expect((await create({ name: "gus", runtime: "opencode" })).body.message).toBe(
      "This installation does not offer opencode. Available: claude-code.",
    );
    expect((await client.call("GET", "/agents/bob")).body.image).toEqual({ ...before, upgradeAvailable: false });
    const upgraded = await client.call("POST", "/agents/bob/upgrade");
    expect([upgraded.status, upgraded.body.image.id]).toEqual([200, before.id]);
    expect(await client.ask("bob", "still here")).toBe("still here");
  },
);
