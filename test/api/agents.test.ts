import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent, AgentList, InstallStatus } from "../../src/contract/agents.ts";
import { BerthError } from "../../src/contract/errors.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { untilDesired } from "../support/until-desired.ts";

let service: ScriptedService;
beforeAll(async () => {
  service = await ScriptedService.start();
});
afterAll(() => service[Symbol.asyncDispose]());

test("an agent is created at once, becomes ready, is listed, and is gone when it is deleted", async () => {
  const { client } = service;
  expect((await client.call("GET", "/agents")).body).toEqual({ data: [], nextCursor: null });
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  const created = await client.call("POST", "/agents", { name: "ada" });
  expect(created.status).toBe(201);
  expect(Agent.parse(created.body)).toMatchObject({
    name: "ada",
    runtime: "claude-code",
    model: null,
    status: "provisioning",
  });
  expect(created.headers.get("location")).toBe("/agents/ada");

  const following = client.fetch("GET", "/agents/ada/install-status", undefined, { accept: "text/event-stream" });
  const stream = await following;
  gate.resolve();
  const statuses = (await stream.text())
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => InstallStatus.parse(JSON.parse(line.slice(6))));
  expect(statuses.at(-1)).toMatchObject({ status: "installed", progress: 1, error: null });
  expect(statuses.map(({ progress }) => progress)).toEqual(statuses.map(({ progress }) => progress).sort());

  expect((await client.call("GET", "/agents/ada")).body.status).toBe("ready");
  expect((await client.call("GET", "/agents/ada/install-status")).body).toMatchObject({ status: "installed" });
  expect(service.driver.running).toHaveLength(1);
  expect((await client.call("DELETE", "/agents/ada")).status).toBe(204);
  expect(service.driver.running).toHaveLength(0);
  expect((await client.call("GET", "/agents/ada")).status).toBe(404);
  expect((await client.createAgent("ada")).body.status).toBe("ready");
});

test("a long list comes in pages, in the order of names", async () => {
  const { client } = service;
  const names = Array.from({ length: 23 }, (_, index) => `many-${String(index).padStart(2, "0")}`);
  await Promise.all(names.map((name) => client.call("POST", "/agents", { name })));
  const listed: string[] = [];
  for (let cursor = ""; ; ) {
    const page = AgentList.parse((await client.call("GET", `/agents?limit=10${cursor}`)).body);
    listed.push(...page.data.map(({ name }) => name));
    if (page.nextCursor === null) break;
    cursor = `&cursor=${page.nextCursor}`;
  }
  expect(listed.filter((name) => name.startsWith("many-"))).toEqual(names);
  await Promise.all(names.map((name) => client.call("DELETE", `/agents/${name}`)));
});

test("an agent whose machine cannot be made has failed, says why, and can be deleted", async () => {
  const { client } = service;
  service.driver.failures.push(new BerthError("disk_full", "The disk of the data folder is full."));
  const failed = await client.createAgent("nospace");
  expect(failed.body).toMatchObject({ status: "failed", error: { code: "disk_full", message: /full/ } });
  const status = (await client.call("GET", "/agents/nospace/install-status")).body;
  expect(status).toMatchObject({ status: "failed", error: { code: "disk_full" } });
  expect(status.steps.some((step: { status: string }) => step.status === "failed")).toBe(true);
  expect((await client.call("DELETE", "/agents/nospace")).status).toBe(204);
});

test("an agent can be deleted while it is being made, twice at once", async () => {
  const { client } = service;
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  await client.call("POST", "/agents", { name: "hasty" });
  const deletions = Promise.all([client.call("DELETE", "/agents/hasty"), client.call("DELETE", "/agents/hasty")]);
  await untilDesired(service, "hasty", "deleted");
  gate.resolve();
  for (const { status } of await deletions) expect([204, 404]).toContain(status);
  expect((await client.call("GET", "/agents/hasty")).status).toBe(404);
});

test("health, readiness and the interface's document need no key", async () => {
  const get = async (path: string) =>
    (await fetch(service.server.url + path)).json() as Promise<Record<string, unknown>>;
  expect(await get("/healthz")).toEqual({ ok: true });
  expect(await get("/readyz")).toMatchObject({ ready: true, checks: { database: { ok: true }, image: { ok: true } } });
  const document = await get("/openapi.json");
  expect(document.openapi).toBe("3.1.0");
  const paths = Object.keys(document.paths as object);
  for (const path of ["/agents", "/agents/{name}", "/agents/{name}/chat", "/agents/{name}/install-status", "/readyz"]) {
    expect(paths).toContain(path);
  }
});

test("a missing image is reported, and used once it appears", async () => {
  const broken = new BerthError(
    "image_missing",
    "There is no guest image yet. Unless make up is building it, build it with: make image",
  );
  await using without = await ScriptedService.start(
    {},
    {
      breaks: () => {
        throw broken;
      },
    },
  );
  const created = await without.client.call("POST", "/agents", { name: "ada" });
  expect(created).toMatchObject({ status: 503, body: { code: "image_missing", message: /make image/ } });
  const ready = await fetch(`${without.server.url}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ ready: false, checks: { image: { ok: false, message: /make image/ } } });
  expect((await without.client.call("GET", "/agents")).body.data).toEqual([]);
  without.repair();
  expect((await without.client.createAgent("ada")).body.status).toBe("ready");
});

test("the operator's key is in a file that only the owner reads, and only its hash is in the database", async () => {
  const file = join(service.config.dataFolder, "operator.key");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const key = (await readFile(file, "utf8")).trim();
  expect(key).toMatch(/^berth_sk_[0-9A-Za-z]{39}$/);
  await service.restart();
  expect((await readFile(file, "utf8")).trim()).toBe(key);
  expect((await service.client.call("GET", "/agents")).status).toBe(200);
});
