import { afterAll, beforeAll, expect, test } from "vitest";
import { type Member, ServerGroup } from "../support/server-group.ts";
import { ChatGptServer } from "../support/subscription-servers.ts";

// The login of a ChatGPT subscription with two servers on one database: refresh tokens are valid once.

let vendor: ChatGptServer;
let group: ServerGroup;
let leader: Member;
let standby: Member;

beforeAll(async () => {
  vendor = await ChatGptServer.start();
  group = await ServerGroup.start(2, { subscriptions: { claude: "http://127.0.0.1:9", ...vendor.urls } });
  leader = await group.leader();
  [standby] = (await group.others()) as [Member];
});
afterAll(async () => {
  await group?.[Symbol.asyncDispose]();
  vendor?.[Symbol.dispose]();
});

/** Calls at both servers at once. */
async function callAll() {
  const calls = [leader, standby, leader, standby].map(({ client }) =>
    client.call("POST", "/providers/chatgpt/test", { model: "gpt-5-codex" }),
  );
  return (await Promise.all(calls)).map(({ body }) => body.error?.message ?? "answered");
}

test("a login that one server begins is finished, and both use it", async () => {
  const { body } = await standby.client.call("POST", "/providers", { name: "chatgpt", kind: "chatgpt" });
  vendor.codes.set(body.login.userCode, true);
  for (const { client } of [leader, standby]) {
    const status = async () => (await client.call("GET", "/providers")).body.data[0].login.status;
    await expect.poll(status, { timeout: 20_000 }).toBe("connected");
  }
  expect(await callAll()).toEqual(["answered", "answered", "answered", "answered"]);
  expect(vendor.refreshes).toBe(0);
});

test("tokens that are refused are refreshed once for both servers", async () => {
  for (const round of [1, 2, 3]) {
    vendor.access.clear();
    vendor.refreshMs = 400;
    expect(await callAll()).toEqual(["answered", "answered", "answered", "answered"]);
    expect(vendor.refreshes).toBe(round);
  }
});

test("a login that one server finds revoked fails at once at the other", async () => {
  vendor.access.clear();
  vendor.refresh.clear();
  const told = await callAll();
  for (const message of told)
    expect(message).toContain("The login of the provider chatgpt has failed. The login was revoked.");
  expect(vendor.refreshes).toBe(4);
});
