import type { Profile } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, ScriptedApi } from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const time = "2026-01-02T03:04:05.678Z";

const profile: Profile = {
  email: "ada@example.com",
  emailVerified: true,
  pendingEmail: null,
  emailNotifications: true,
  timeZone: null,
  effectiveTimeZone: "Europe/Berlin",
  quietHours: null,
  notify: "needs-me",
  ntfy: null,
  channels: [
    { channel: "push", ready: false, missing: "No browser shows notifications.", failure: null },
    { channel: "email", ready: true, missing: null, failure: null },
    { channel: "ntfy", ready: true, missing: null, failure: { message: "The ntfy server answered 403.", at: time } },
  ],
};

const sent = () => JSON.parse(api.seen.at(-1)!.body);

test("a profile is shown with what its channels lack", async () => {
  const quietHours = { from: "22:00", to: "07:00" };
  const ntfy = { url: "https://ntfy.sh/one", hasToken: true };
  api.answers["GET /me/profile"] = [
    json({ ...profile, quietHours, ntfy, emailVerified: false, pendingEmail: "new@example.com" }),
    json({ ...profile, email: null }),
  ];
  const { stdout } = await api.berth(["notifications", "show"]);
  for (const line of [
    /^notify +needs-me$/m,
    /^quiet hours +22:00-07:00 Europe\/Berlin$/m,
    /^e-mail +ada@example\.com \(not verified\)$/m,
    /^new e-mail +new@example\.com: open the link in the mail$/m,
    /^ntfy +https:\/\/ntfy\.sh\/one with a token$/m,
    /^by push +No browser shows notifications\.$/m,
    /^by email +ready$/m,
    /^by ntfy +ready Refused .*: The ntfy server answered 403\.$/m,
  ])
    expect(stdout).toMatch(line);
  expect((await api.berth(["notifications", "show"])).stdout).toMatch(/^e-mail +none$/m);
});

test("a profile is changed, and a token is read from stdin", async () => {
  api.answers["PATCH /me/profile"] = Array.from({ length: 4 }, () => json(profile));
  const set = (...args: string[]) => api.berth(["notifications", "set", ...args], { input: "tk_secret\n" });
  await set("--notify", "all", "--quiet-hours", "22:00-07:00", "--time-zone", "Asia/Tokyo", "--no-mail");
  const quietHours = { from: "22:00", to: "07:00" };
  expect(sent()).toEqual({ notify: "all", quietHours, timeZone: "Asia/Tokyo", emailNotifications: false });
  await set("--quiet-hours", "none", "--time-zone", "sign-in", "--email", "sign-in", "--ntfy", "none", "--mail");
  expect(sent()).toEqual({ quietHours: null, timeZone: null, email: null, ntfy: null, emailNotifications: true });
  await set("--ntfy", "https://ntfy.sh/one", "--ntfy-token");
  expect(sent()).toEqual({ ntfy: { url: "https://ntfy.sh/one", token: "tk_secret" } });
  await set("--ntfy", "https://ntfy.sh/one", "--email", "new@example.com");
  expect(sent()).toEqual({ ntfy: { url: "https://ntfy.sh/one" }, email: "new@example.com" });
});

test.each([
  [["set"], /Nothing to change/],
  [["set", "--quiet-hours", "22:00"], /such as 22:00-07:00, or none/],
  [["set", "--ntfy-token"], /--ntfy-token requires --ntfy/],
  [["set", "--notify", "some"], /Allowed choices are all, needs-me, none/],
  [["agent", "ada", "some"], /allowed: all, needs-me, none, default/],
])("%j is refused", async (args, message) => {
  const { code, stderr } = await api.berth(["notifications", ...args]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  expect(api.seen).toEqual([]);
});

test("an address is confirmed by its link or token", async () => {
  api.answers["POST /me/profile/verify-email"] = [json(profile), json(profile)];
  for (const link of ["https://berth.example/-/verify-email#abc", "abc"]) {
    expect((await api.berth(["notifications", "verify", link])).code).toBe(0);
    expect(sent()).toEqual({ token: "abc" });
  }
});

test("a test prints the outcome of each channel", async () => {
  const channels = [
    { channel: "email", sent: true, error: null },
    { channel: "ntfy", sent: false, error: "There is no ntfy topic." },
  ];
  api.answers["POST /me/profile/test"] = [json({ channels })];
  const { stdout } = await api.berth(["notifications", "test"]);
  expect(stdout).toMatch(/^email +sent\nntfy +There is no ntfy topic\.\n$/);
});

test("choices for agents are listed, set and removed", async () => {
  const data = [{ agent: "ada", notify: "all" }];
  api.answers["GET /me/profile/agents?limit=50"] = [json({ data, nextCursor: null })];
  expect((await api.berth(["notifications", "agents"])).stdout).toMatch(/ada +all/);
  api.answers["PUT /me/profile/agents/ada"] = [json(data[0])];
  expect((await api.berth(["notifications", "agent", "ada", "all"])).stdout).toBe("ada: all.\n");
  api.answers["DELETE /me/profile/agents/ada"] = [(response) => response.writeHead(204).end()];
  expect((await api.berth(["notifications", "agent", "ada", "default"])).stdout).toBe("ada: default.\n");
});
