import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { Metrics } from "../../telemetry/metrics.ts";
import { Leadership } from "../leadership.ts";
import { ServerSeal } from "../server-seal.ts";
import { Passing } from "./passing.ts";

test("a stop waits for a request that waited for this server to lead", async () => {
  const term = { host: "one", server: "this", epoch: 1 };
  let isFree = false;
  const leadership = new Leadership({
    ...term,
    rows: {
      all: async () => (isFree ? [{ ...term, url: "", isValid: true, restedMs: 0, isReleased: false }] : []),
      take: async () => (isFree ? term.epoch : null),
      renew: async () => true,
      release: async () => {},
      endSessions: async () => {},
      hostOf: async () => term.host,
    },
    lock: { goneHolder: async () => term.server, take: async () => {}, release: async () => {} },
    lead: async () => {},
    log: () => {},
  });
  await leadership.begin("");
  const seal = new ServerSeal(Buffer.alloc(32).toString("base64"));
  const passing = new Passing(leadership, seal, new Metrics("this", "1"));
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [request, response] = await once(server, "request");
  const passed = passing.passPage(
    { accountId: "a", name: "ada" },
    { request, response, isUpgrade: false },
    "192.0.2.7",
  );
  isFree = true;
  expect(await passed).toBe(false);

  const steps: string[] = [];
  const settled = passing.settled(60_000).then(() => steps.push("settled"));
  await nextLoop();
  steps.push("answered");
  response.end("done");
  await settled;
  expect(steps).toEqual(["answered", "settled"]);
  expect(await (await client).text()).toBe("done");
  server.close();
  await leadership.end(async () => {});
});
