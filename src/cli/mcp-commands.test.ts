import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { json, refuse, ScriptedApi } from "../../test/support/scripted-api.ts";
import { keys, ScriptedTerminal } from "../../test/support/scripted-terminal.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const time = "2026-01-02T03:04:05.678Z";
const shared = {
  name: "LINEAR",
  hosts: ["mcp.example.com"],
  headers: ["authorization"],
  agents: ["ada", "bob"],
  lastFour: null,
  createdBy: null,
  createdAt: time,
  updatedAt: time,
};
const login = {
  url: "https://mcp.example.com/mcp",
  status: "connected",
  scopes: ["read"],
  expiresAt: time,
  connectedAt: time,
  attemptExpiresAt: null as string | null,
  reason: null as string | null,
};
const pending = {
  ...shared,
  login: { ...login, status: "pending", scopes: [], expiresAt: null, attemptExpiresAt: time },
};
const connected = { ...shared, login };
const page = "https://auth.example.com/authorize?a=b";

test("a sign-in to an MCP server prints its page, and is finished with a code", async () => {
  api.answers["POST /secrets/LINEAR/connect"] = [
    json({ authorizationUrl: "https://auth.example.com/authorize?a=b", expiresAt: time }),
  ];
  api.answers["GET /secrets/LINEAR"] = [json(pending)];
  const begun = await api.berth(["mcp", "connect", "LINEAR", login.url, "--agent", "ada", "--scope", "read"]);
  expect(begun.stderr).toContain("https://auth.example.com/authorize?a=b");
  expect(begun.stderr).toContain("berth mcp confirm LINEAR CODE");
  expect(begun.stdout).toBe("LINEAR is the sign-in to https://mcp.example.com/mcp: pending.\nAgents: ada, bob\n");
  expect(JSON.parse(api.seen[0]!.body)).toEqual({ url: login.url, agents: ["ada"], scopes: ["read"] });
  api.answers["POST /secrets/LINEAR/confirm"] = [json(connected)];
  const confirmed = await api.berth(["mcp", "confirm", "LINEAR", "ABCD-EFGH"]);
  expect(confirmed.stdout).toContain(
    "LINEAR is the sign-in to https://mcp.example.com/mcp: connected.\nAllowed: read\n",
  );
  expect(JSON.parse(api.seen.at(-1)!.body)).toEqual({ code: "ABCD-EFGH" });
  const client = ["--client-id", "berth", "--client-secret"];
  await api.berth(["mcp", "connect", "LINEAR", ...client], { input: "hush\n" });
  expect(JSON.parse(api.seen.at(-2)!.body)).toEqual({ clientId: "berth", clientSecret: "hush" });
  expect(await api.berth(["mcp", "connect", "LINEAR", "--client-secret"])).toMatchObject({ code: 2 });
});

describe("on a terminal", () => {
  /** The tool, when it asks for the code. */
  async function connecting(): Promise<ScriptedTerminal> {
    api.answers["POST /secrets/LINEAR/connect"] = [json({ authorizationUrl: page, expiresAt: time })];
    const environment = { BERTH_URL: api.url, BERTH_API_KEY: "berth_sk_test" };
    const terminal = await ScriptedTerminal.run(["mcp", "connect", "LINEAR", login.url], environment, { columns: 120 });
    await terminal.shows("Code of the last page:");
    expect(terminal.all()).toContain(page);
    return terminal;
  }

  test("the code is asked for again until it is right", async () => {
    api.answers["GET /secrets/LINEAR"] = [json(pending)];
    api.answers["POST /secrets/LINEAR/confirm"] = [
      refuse(400, "The code is wrong.", "request_invalid"),
      json(connected),
    ];
    await using terminal = await connecting();
    terminal.type(`AAAA-AAAA${keys.enter}`);
    await terminal.shows("The code is wrong.");
    terminal.type(`ABCD-EFGH${keys.enter}`);
    expect(await terminal.exited).toBe(0);
    expect(terminal.all()).toContain("LINEAR is the sign-in to https://mcp.example.com/mcp: connected.");
    const sent = api.seen.filter(({ path }) => path.endsWith("/confirm")).map(({ body }) => JSON.parse(body).code);
    expect(sent).toEqual(["AAAA-AAAA", "ABCD-EFGH"]);
  });

  test("a sign-in that has ended in the browser ends the tool with the reason", async () => {
    api.answers["GET /secrets/LINEAR"] = [
      json({ ...shared, login: { ...login, status: "failed", reason: "The person refused the access." } }),
    ];
    await using terminal = await connecting();
    expect(await terminal.exited).toBe(1);
    expect(terminal.all()).toContain("Not connected. The person refused the access.");
  });

  test("Ctrl-C leaves it", async () => {
    api.answers["GET /secrets/LINEAR"] = [json(pending)];
    await using terminal = await connecting();
    terminal.type(keys.ctrlC);
    expect(await terminal.exited).toBe(130);
  });
});
