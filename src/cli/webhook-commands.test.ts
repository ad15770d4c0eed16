import type { Webhook, WebhookDelivery } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, ScriptedApi } from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const time = "2026-01-02T03:04:05.678Z";
const id = "0f6c3a52-7a53-4a41-9b1e-6a2f7a1d9c55";

function webhook(changes: Partial<Webhook> = {}): Webhook {
  return {
    id,
    url: "https://example.com/hook",
    events: null,
    agent: null,
    include: [],
    disabled: false,
    disabledReason: null,
    dropped: 0,
    oldSecretUntil: null,
    lastDelivery: null,
    createdBy: null,
    createdAt: time,
    ...changes,
  };
}

const delivery: WebhookDelivery = {
  id,
  type: "turn.completed",
  agent: "ada",
  status: "pending",
  attempts: 2,
  responseStatus: 503,
  error: "The receiver answered 503.",
  nextAttemptAt: time,
  lastAttemptAt: time,
  createdAt: time,
};

const sent = () => JSON.parse(api.seen.at(-1)!.body);
const reason = { code: "gone" as const, message: "The receiver answered 410: it wants no more deliveries." };

test("webhooks are listed with their events and state", async () => {
  const lastDelivery = {
    id,
    type: "turn.failed",
    status: "failed" as const,
    responseStatus: 410,
    error: null,
    createdAt: time,
  };
  const data = [
    webhook({ events: ["turn.failed"], agent: "ada", disabled: true, disabledReason: reason, lastDelivery }),
    webhook(),
  ];
  api.answers["GET /webhooks?limit=50"] = [json({ data, nextCursor: null })];
  const lines = (await api.berth(["webhooks", "list"])).stdout.trim().split("\n");
  expect(lines[0]).toMatch(/^ID +URL +EVENTS +AGENT +STATE +LAST DELIVERY$/);
  expect(lines[1]).toMatch(/https:\/\/example\.com\/hook +all +all +enabled *$/);
  expect(lines[2]).toMatch(/turn\.failed +ada +disabled gone +failed 2026-01-0/);
});

test("a webhook is created with its settings, and the secret is printed alone", async () => {
  api.answers["POST /webhooks"] = [json({ ...webhook(), secret: "whsec_c2VjcmV0" }, 201)];
  const args = [
    "webhooks",
    "create",
    "https://example.com/hook",
    "-e",
    "turn.completed",
    "-e",
    "run.failed",
    "-a",
    "ada",
    "--content",
  ];
  const { stdout, stderr } = await api.berth(args);
  expect(sent()).toEqual({
    url: "https://example.com/hook",
    events: ["turn.completed", "run.failed"],
    agent: "ada",
    include: ["content"],
  });
  expect(stdout).toBe("whsec_c2VjcmV0\n");
  expect(stderr).toBe(`Store the secret of ${id} now: it is not shown again.\n`);
});

test("a webhook is changed, disabled and enabled", async () => {
  api.answers[`PATCH /webhooks/${id}`] = Array.from({ length: 3 }, () =>
    json(webhook({ disabled: true, disabledReason: reason, dropped: 3, oldSecretUntil: time, include: ["content"] })),
  );
  const { stdout } = await api.berth(["webhooks", "update", id, "--disable"]);
  expect(sent()).toEqual({ disabled: true });
  expect(stdout).toMatch(/state +disabled: The receiver answered 410: it wants no more deliveries\./);
  expect(stdout).toMatch(/dropped +3 deliveries/);
  await api.berth(["webhooks", "update", id, "--enable", "--url", "https://example.com/b"]);
  expect(sent()).toEqual({ disabled: false, url: "https://example.com/b" });
  await api.berth(["webhooks", "update", id, "-e", "all", "-a", "all", "--no-content"]);
  expect(sent()).toEqual({ events: null, agent: null, include: [] });
});

test("changes that are empty or contradict each other, and unknown events, are refused", async () => {
  for (const [args, message] of [
    [[], /Nothing to change/],
    [["--enable", "--disable"], /exclude each other/],
    [["-e", "turn.exploded"], /There is no event turn\.exploded\. Allowed: all, turn\.completed/],
  ] as const) {
    const { code, stderr } = await api.berth(["webhooks", "update", id, ...args]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  }
  expect(api.seen).toEqual([]);
});

test("deliveries are listed with their results, and sent again", async () => {
  const arrived = { ...delivery, status: "delivered" as const, error: null, responseStatus: 204, nextAttemptAt: null };
  api.answers[`GET /webhooks/${id}/deliveries?limit=20`] = [json({ data: [arrived, delivery], nextCursor: null })];
  const lines = (await api.berth(["webhooks", "deliveries", id])).stdout.trim().split("\n");
  expect(lines[1]).toMatch(/turn\.completed +ada +pending +2 +2026-01-0.* The receiver answered 503\.$/);
  expect(lines[2]).toMatch(/delivered +2 +204$/);
  api.answers[`POST /webhooks/${id}/deliveries/${id}/redeliver`] = [json(delivery)];
  expect((await api.berth(["webhooks", "redeliver", id, id])).stderr).toMatch(/^Queued\./);
  api.answers[`POST /webhooks/${id}/test`] = [json(delivery, 201)];
  expect((await api.berth(["webhooks", "test", id])).stderr).toMatch(/^Queued\./);
});

test("a secret is replaced and a webhook deleted with consent", async () => {
  api.answers[`POST /webhooks/${id}/rotate`] = [json({ ...webhook(), secret: "whsec_bmV3" })];
  expect((await api.berth(["webhooks", "rotate", id, "--yes"])).stdout).toBe("whsec_bmV3\n");
  expect((await api.berth(["webhooks", "delete", id])).code).not.toBe(0);
  api.answers[`DELETE /webhooks/${id}`] = [(response) => response.writeHead(204).end()];
  expect(await api.berth(["webhooks", "delete", id, "--yes"])).toMatchObject({ code: 0 });
});
