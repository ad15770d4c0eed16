import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
beforeAll(async () => {
  service = await ScriptedService.start();
});
afterAll(() => service[Symbol.asyncDispose]());

const times = (query: Record<string, string>) =>
  service.client.call("GET", `/schedule-times?${new URLSearchParams(query)}`);

test("the next times of a line are listed on the clock of its zone", async () => {
  const { status, body } = await times({ cron: "30 4 1 1 *", timeZone: "Asia/Tokyo", count: "3" });
  expect(status).toBe(200);
  expect(body.times).toHaveLength(3);
  for (const time of body.times) expect(time).toMatch(/^20\d\d-12-31T19:30:00\.000Z$/);
  expect((await times({ cron: "* * * * *", timeZone: "UTC" })).body.times).toHaveLength(5);
});

test.each([
  [{ cron: "0 3 * * *" }, "timeZone"],
  [{ cron: "0 0 30 2 *", timeZone: "UTC" }, "never happens"],
  [{ cron: "0 0 0 1 1 *", timeZone: "UTC" }, "a line has five"],
  [{ cron: "0 3 * * *", timeZone: "Nowhere/Atlantis" }, "IANA"],
  [{ cron: "0 3 * * *", timeZone: "UTC", count: "51" }, "count"],
  [{ cron: "0 3 * * *", timeZone: "UTC", at: "2030-01-31T12:00:00Z" }, "at"],
])("%j is refused, with the reason", async (query, reason) => {
  const { status, body } = await times(query);
  expect([status, body.code]).toEqual([400, "request_invalid"]);
  expect(body.message).toContain(reason);
});
