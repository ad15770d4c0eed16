import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { ServerSeal } from "../server-seal.ts";
import { type Leaders, Passing } from "./passing.ts";

test("a stop waits for a request that waited for this server to lead", async () => {
  const self = { host: "one", server: "this", epoch: 1, url: "", isValid: true, restedMs: 0, isReleased: false };
  const leaders = {
    host: self.host,
    server: self.server,
    leads: false,
    isOnlyHost: true,
    known: () => null,
    leaderOf: async () => {
      leaders.leads = true;
      return self;
    },
    hostOf: async () => self.host,
  };
  const passing = new Passing(leaders satisfies Leaders, new ServerSeal(Buffer.alloc(32).toString("base64")), () => {});
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [request, response] = await once(server, "request");
  const passed = passing.passPage({ accountId: "a", name: "ada" }, { request, response, isUpgrade: false });
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
});
