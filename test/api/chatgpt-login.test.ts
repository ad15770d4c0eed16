import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { databaseOf, newAccount } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { scriptedRuntime } from "../support/scripted-runtime.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { ChatGptServer, type Nonsense } from "../support/subscription-servers.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

// Logins of ChatGPT subscriptions, at a local server that speaks the login of Codex and its backend.

const nowhere = "http://127.0.0.1:9";
const ask = "ask /openai/v1/responses";
const patient = { timeout: 20_000, interval: 100 };
const runtimes = [{ ...scriptedRuntime("codex"), wires: ["responses" as const] }, scriptedRuntime("claude-code")];

let vendor: ChatGptServer;
let receiver: WebhookReceiver;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  vendor = await ChatGptServer.start();
  receiver = await WebhookReceiver.start();
  service = await ScriptedService.start(
    { subscriptions: { claude: nowhere, ...vendor.urls }, webhooksInside: [receiver.authorityText] },
    { runtimes },
  );
});
beforeEach(async () => {
  client = await newAccount(service);
  Object.assign(vendor, { nonsense: null, isAway: false, refreshMs: 0, refreshes: 0, polls: 0, tokenSeconds: 864_000 });
  vendor.received.length = 0;
});
afterEach(async () => {
  await client.call("DELETE", "/providers/chatgpt");
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  vendor?.[Symbol.dispose]();
  receiver?.[Symbol.dispose]();
});

const shown = async (by = client) =>
  (await by.call("GET", "/providers")).body.data.find(({ name }: { name: string }) => name === "chatgpt");
const statusOf = async () => (await shown())?.login.status;

async function begin() {
  const { status, body } = await client.call("POST", "/providers", { name: "chatgpt", kind: "chatgpt" });
  expect([status, body]).toEqual([201, body]);
  return body;
}

async function connect() {
  const { login } = await begin();
  vendor.codes.set(login.userCode, true);
  await expect.poll(statusOf, patient).toBe("connected");
}

async function talk(name = "ada") {
  await client.createAgent(name, { runtime: "codex", model: "chatgpt/gpt-5-codex" });
}

const failureOf = async (name = "ada") => {
  const { events } = await client.chat(name, ask);
  const { event } = events.at(-1)!;
  return event.type === "response.failed" ? event.error : { code: event.type, message: "" };
};

/** Changes the stored login, as time or another server would. */
async function change(columns: Record<string, unknown>) {
  const database = await databaseOf(service);
  await database.updateTable("provider_logins").set(columns).execute();
  await database.destroy();
  await new Promise((resolve) => setTimeout(resolve, 2_100));
}

describe("a login", () => {
  test("shows a page and a code, and is connected when a person has entered the code", async () => {
    const made = await begin();
    expect(made).toMatchObject({
      ...{ kind: "chatgpt", wires: ["responses"], runtimes: ["codex"], credential: null },
      login: { status: "pending", verificationUrl: `${vendor.url}/codex/device`, reason: null },
    });
    await talk();
    expect(await failureOf()).toMatchObject({
      code: "model_credentials_refused",
      message: expect.stringMatching(/^The login of the provider chatgpt is not finished\./),
    });
    await expect.poll(() => vendor.polls, patient).toBeGreaterThan(0);
    vendor.codes.set(made.login.userCode, true);
    await expect.poll(statusOf, patient).toBe("connected");
    expect(await shown()).toMatchObject({
      credential: vendor.email,
      login: { verificationUrl: null, userCode: null, expiresAt: null },
    });
    const { events, text } = await client.chat("ada", ask, ["usage"]);
    expect(text).toContain("demonstration model");
    expect(events.at(-1)!.event).toMatchObject({ usage: { credits: "0" } });
    expect(vendor.received[0]!.headers).toMatchObject({ originator: "codex_cli_rs" });
    const answers = JSON.stringify([events, await shown()]);
    for (const secret of [...vendor.access, ...vendor.refresh]) expect(answers).not.toContain(secret);
  });

  test("is for Codex only, and is the workspace's alone", async () => {
    await connect();
    const { status, body } = await client.call("POST", "/agents", {
      name: "bea",
      runtime: "claude-code",
      model: "chatgpt/gpt-5-codex",
    });
    expect([status, body.message]).toEqual([400, expect.stringMatching(/only codex may use, not claude-code/)]);
    const other = await newAccount(service);
    expect(await shown(other)).toBeUndefined();
    for (const path of ["", "/login", "/test"]) {
      const method = path === "" ? "DELETE" : "POST";
      expect((await other.call(method, `/providers/chatgpt${path}`, path === "/test" ? {} : undefined)).status).toBe(
        404,
      );
    }
  });

  test("is continued by the server after a restart", async () => {
    const { login } = await begin();
    await service.restart();
    client = new TestClient(service.client.url, client.key);
    vendor.codes.set(login.userCode, true);
    await expect.poll(statusOf, patient).toBe("connected");
  });

  test("the code of an earlier login connects nothing", async () => {
    const first = (await begin()).login.userCode;
    const again = await client.call("POST", "/providers/chatgpt/login");
    const second = again.body.login.userCode;
    expect([again.status, second]).toEqual([200, expect.stringMatching(/^CODE-/)]);
    expect(second).not.toBe(first);
    vendor.codes.set(first, true);
    const { polls } = vendor;
    await expect.poll(() => vendor.polls, patient).toBeGreaterThan(polls + 1);
    expect(await statusOf()).toBe("pending");
    vendor.codes.set(second, true);
    await expect.poll(statusOf, patient).toBe("connected");
  });

  test("expires, and is begun again", async () => {
    await begin();
    await change({ expires_at: new Date(0) });
    await expect.poll(shown, patient).toMatchObject({ login: { status: "failed", reason: "The code has expired." } });
    await talk();
    expect((await failureOf()).message).toMatch(
      /has failed\. The code has expired\. Connect it again: berth providers login/,
    );
    const { login } = (await client.call("POST", "/providers/chatgpt/login")).body;
    vendor.codes.set(login.userCode, true);
    await expect.poll(statusOf, patient).toBe("connected");
    expect(await client.ask("ada", ask)).toContain("demonstration model");
  });

  test("an earlier login stays in use until another one is connected", async () => {
    await connect();
    await talk();
    await client.call("POST", "/providers/chatgpt/login");
    expect(await statusOf()).toBe("pending");
    expect(await client.ask("ada", ask)).toContain("demonstration model");
  });

  test("a provider that is deleted meanwhile stays deleted", async () => {
    const { login } = await begin();
    await client.call("DELETE", "/providers/chatgpt");
    vendor.codes.set(login.userCode, true);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await shown()).toBeUndefined();
    expect(await begin()).toMatchObject({ login: { status: "pending" } });
  });

  test("two people cannot begin it under one name", async () => {
    const asked = { name: "chatgpt", kind: "chatgpt" };
    const both = await Promise.all([1, 2].map(() => client.call("POST", "/providers", asked)));
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  });

  test("other kinds have none, and it takes no key", async () => {
    await client.call("POST", "/providers", { name: "claude", kind: "claude", apiKey: "sk-ant-oat01-a-token" });
    const { status, body } = await client.call("POST", "/providers/claude/login");
    expect([status, body.message]).toEqual([400, expect.stringContaining("has no login to begin: set another token")]);
    const asked = { name: "chatgpt", kind: "chatgpt", apiKey: "sk-a-key" };
    const keyed = await client.call("POST", "/providers", asked);
    expect([keyed.status, keyed.body.message]).toEqual([400, expect.stringContaining("has none. Allowed: models.")]);
  });

  test.each<Nonsense>(["html", "huge", "redirect", "empty", "unavailable"])(
    "a vendor that answers %s begins none",
    async (nonsense) => {
      vendor.nonsense = nonsense;
      const { status, body } = await client.call("POST", "/providers", { name: "chatgpt", kind: "chatgpt" });
      expect([status, body.code, body.message]).toEqual([
        ...[502, "provider_unreachable", "OpenAI's login does not answer; try again later."],
      ]);
      expect(await shown()).toBeUndefined();
    },
  );
});

describe("tokens", () => {
  test("are refreshed before they expire, and the new ones are used", async () => {
    await connect();
    await talk();
    vendor.access.clear();
    await change({ refresh_at: new Date(0) });
    await expect.poll(() => vendor.refreshes, patient).toBe(1);
    expect(await client.ask("ada", ask)).toContain("demonstration model");
    expect(vendor.refreshes).toBe(1);
  });

  test("are refreshed once for calls at the same time, when they are refused", async () => {
    await connect();
    await Promise.all(["ada", "bea", "cleo"].map(talk));
    vendor.access.clear();
    vendor.refreshMs = 300;
    const all = await Promise.all(["ada", "bea", "cleo"].map((name) => client.ask(name, ask)));
    for (const text of all) expect(text).toContain("demonstration model");
    expect(vendor.refreshes).toBe(1);
  });

  test("a login that was revoked ends the turn, is reported with its reason, and is connected again", async () => {
    await connect();
    await talk();
    await client.call("POST", "/webhooks", { url: receiver.url("/failed"), events: ["provider.login_failed"] });
    const events = await client.fetch("GET", "/events");
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
    let seen = "";
    vendor.access.clear();
    vendor.refresh.clear();
    const reason = "The login was revoked.";
    expect(await failureOf()).toMatchObject({
      code: "model_credentials_refused",
      message: expect.stringContaining(`The login of the provider chatgpt has failed. ${reason}`),
    });
    while (!seen.includes("provider.login_failed")) seen += (await reader.read()).value ?? "";
    await reader.cancel();
    expect(seen).toContain(reason);
    await expect
      .poll(() => receiver.at("/failed").map(({ body }) => JSON.parse(body)), patient)
      .toMatchObject([{ type: "provider.login_failed", data: { provider: "chatgpt", kind: "chatgpt", reason } }]);
    expect((await shown()).login).toMatchObject({ status: "failed", reason });
    // Later calls fail at once.
    const { refreshes } = vendor;
    await failureOf();
    expect(vendor.refreshes).toBe(refreshes);
    const { login } = (await client.call("POST", "/providers/chatgpt/login")).body;
    vendor.codes.set(login.userCode, true);
    await expect.poll(statusOf, patient).toBe("connected");
    expect(await client.ask("ada", ask)).toContain("demonstration model");
  });

  test("fresh ones that are refused end the login", async () => {
    await connect();
    await talk();
    vendor.access.add = () => vendor.access;
    vendor.access.clear();
    expect((await failureOf()).message).toContain("OpenAI does not accept it any more (401).");
    Reflect.deleteProperty(vendor.access, "add");
    expect(vendor.refreshes).toBe(1);
    expect((await shown()).login.status).toBe("failed");
  });

  test("a vendor that is away fails the call, and not the login", async () => {
    await using brief = await ScriptedService.start(
      { subscriptions: { claude: nowhere, ...vendor.urls }, modelRetryMs: 0 },
      { runtimes },
    );
    client = await newAccount(brief);
    await connect();
    await talk();
    vendor.access.clear();
    vendor.isAway = true;
    expect(await failureOf()).toMatchObject({ code: "model_unreachable" });
    vendor.isAway = false;
    expect(await client.ask("ada", ask)).toContain("demonstration model");
    expect((await shown()).login.status).toBe("connected");
    const { body } = await client.call("POST", "/providers/chatgpt/test", { model: "gpt-5-codex" });
    expect(body).toMatchObject({ ok: true, error: null });
    client = await newAccount(service);
  });

  test("are refreshed by another server when the one that had begun is dead", async () => {
    await connect();
    await talk();
    vendor.access.clear();
    await change({ refreshing_until: new Date(Date.now() + 4_000) });
    expect(await client.ask("ada", ask)).toContain("demonstration model");
    expect(vendor.refreshes).toBe(1);
  });

  test("that were refreshed while the database was away are kept until they are stored", async () => {
    await connect();
    await talk();
    const database = await databaseOf(service);
    vendor.access.clear();
    vendor.refreshMs = 1_000;
    const asked = client.ask("ada", ask);
    await expect.poll(() => vendor.refreshes, patient).toBe(1);
    // Longer than the server's statements wait for a lock.
    await database.transaction().execute(async (transaction) => {
      await sql`lock table provider_logins in access exclusive mode`.execute(transaction);
      await new Promise((resolve) => setTimeout(resolve, 6_000));
    });
    await database.destroy();
    expect(await asked).toContain("demonstration model");
    await expect.poll(statusOf, patient).toBe("connected");
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect(await client.ask("ada", ask)).toContain("demonstration model");
    expect(vendor.refreshes).toBe(1);
  });

  test("of another secret key are shown as such, and are not refreshed", async () => {
    await connect();
    await talk();
    await change({ tokens: Buffer.from("of another key"), refresh_at: new Date(0) });
    expect(await shown()).toMatchObject({ readable: false });
    expect((await failureOf()).message).toContain("It was encrypted with another secret key.");
    expect(vendor.refreshes).toBe(0);
  });

  test("are in the database encrypted only", async () => {
    await connect();
    const database = await databaseOf(service);
    const rows = JSON.stringify(await database.selectFrom("provider_logins").selectAll().execute());
    const bytes = await database.selectFrom("provider_logins").select(["tokens", "device"]).execute();
    await database.destroy();
    const plain = rows + bytes.map(({ tokens }) => tokens?.toString("latin1")).join("");
    for (const secret of [...vendor.access, ...vendor.refresh]) expect(plain).not.toContain(secret);
  });
});
