import { afterAll, beforeAll, expect, test } from "vitest";
import { TestClient } from "../support/client.ts";
import { KillableService } from "../support/killable-service.ts";

let service: KillableService;
beforeAll(async () => {
  service = await KillableService.start();
});
afterAll(() => service[Symbol.asyncDispose]());

test("a stop waits for the audit entries of requests that it cuts off", async () => {
  const { body } = await service.client.call("POST", "/keys", { role: "viewer" });
  const viewer = new TestClient(service.client.url, body.key);
  const all = 300;
  // Refusals beyond the first hundred are delayed, so that many are under way.
  const delayed = Promise.withResolvers<void>();
  let answered = 0;
  const refused = async () => {
    await viewer.call("POST", "/agents", { name: "ada" });
    answered += 1;
    if (answered === 110) delayed.resolve();
  };
  const requests = Promise.allSettled(Array.from({ length: all }, refused));
  await delayed.promise;
  expect(await service.server.end("SIGTERM")).toBe(0);
  await requests;
  expect(answered).toBeLessThan(all);
  expect(service.server.lines.filter((line) => line.includes("could not be written"))).toEqual([]);
  await service.startServer();
  const { body: page } = await service.client.call("GET", "/audit?outcome=refused&limit=1");
  expect(page.data).toMatchObject([{ operation: "POST /agents", code: "forbidden" }]);
});
